# What a person reads, in English: what every other language falls back to.
# A value is put in as it is given. Where a plural depends on a number: { NUMBER($n) -> [one] … *[other] … }

