// Runs in a world of its own: the page's scripts see none of this and have changed nothing of what it uses.
(async (ask) => {
  const plain = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const folded = (text) => plain(text).toLowerCase();
  const isShown = (el) => {
    const box = el.getBoundingClientRect();
    const visible = !el.checkVisibility || el.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    return el.isConnected && visible && box.width > 0 && box.height > 0;
  };
  const held = (el) => {
    if (el.type === 'password') return '';
    return el.tagName === 'SELECT' ? Array.from(el.selectedOptions, (it) => it.text).join(' ') : el.value;
  };
  // What a person reads: what is shown, and what fields hold.
  const readable = () => {
    const fields = Array.from(document.querySelectorAll('input,textarea,select')).filter(isShown).map(held);
    return plain((document.body ? document.body.innerText : '') + ' ' + fields.join(' '));
  };
  const label = (el) => {
    const own = /^(submit|button|reset)$/.test(el.type) ? el.value : '';
    return folded(el.innerText || own || el.getAttribute('aria-label') || el.getAttribute('title'));
  };
  const CLICKABLE = 'button,a,summary,label,input[type=submit],input[type=button],input[type=reset],[onclick],' +
    '[role=button],[role=link],[role=tab],[role=menuitem],[role=checkbox],[role=switch],[role=option]';
  const find = (target) => {
    if (target.selector) return Array.from(document.querySelectorAll(target.selector)).find(isShown) || null;
    const wanted = folded(target.text);
    const among = (all, fits) => all.filter((el) => isShown(el) && fits(label(el))).pop() || null;
    const clickable = Array.from(document.querySelectorAll(CLICKABLE));
    const all = Array.from(document.querySelectorAll('body *'));
    const same = (text) => text === wanted, within = (text) => text.includes(wanted);
    return among(clickable, same) || among(all, same) || among(clickable, within) || among(all, within);
  };
  const isSeen = (target) => target.selector ? !!find(target) : folded(readable()).includes(folded(target.text));
  // Looks again and again until there is something to say, or the time is over: then what was in the way.
  const until = (look) => new Promise((resolve, reject) => {
    const from = performance.now();
    let timer = 0;
    const again = () => {
      try {
        const found = look();
        if (!found.why || performance.now() - from > ask.ms) { clearInterval(timer); resolve(found); }
      } catch (error) { clearInterval(timer); reject(error); }
    };
    timer = setInterval(again, 40);
    again();
  });
  const name = (el) => '<' + el.tagName.toLowerCase() + (el.id ? ' id=' + el.id : '') + '>';
  const spot = () => {
    const el = find(ask.target);
    if (!el) return { why: 'it is not there' };
    if (el.disabled || el.getAttribute('aria-disabled') === 'true') return { why: 'it is disabled' };
    el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const box = el.getClientRects()[0] || el.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const hit = document.elementFromPoint(x, y);
    const over = hit && (el.contains(hit) || hit.contains(el) || (hit.closest('label') || {}).control === el);
    if (!hit) return { why: 'it is outside of the page' };
    if (!over) return { why: 'it is covered by ' + name(hit) };
    return { x, y };
  };
  const field = () => {
    const el = find(ask.target);
    if (!el) return { why: 'it is not there' };
    if (el.disabled) return { why: 'it is disabled' };
    if (el.readOnly) return { why: 'it cannot be changed' };
    const changed = () => ['input', 'change'].forEach((kind) => el.dispatchEvent(new Event(kind, { bubbles: true })));
    if (el.tagName === 'SELECT') {
      const option = Array.from(el.options).find((it) => folded(it.text) === folded(ask.text) || it.value === ask.text);
      if (!option) return { why: 'it has no such option' };
      el.value = option.value;
      changed();
      return { done: true };
    }
    if (/^(checkbox|radio|file|submit|button|reset|image)$/.test(el.type)) return { why: 'nothing can be typed into ' + name(el) };
    if (/^(date|time|datetime-local|month|week|color|range)$/.test(el.type)) {
      el.focus();
      el.value = ask.text;
      changed();
      return { done: true };
    }
    if (!el.isContentEditable && !/^(INPUT|TEXTAREA)$/.test(el.tagName)) return { why: 'nothing can be typed into ' + name(el) };
    el.scrollIntoView({ block: 'center', behavior: 'instant' });
    el.focus();
    if (el.isContentEditable) getSelection().selectAllChildren(el); else el.select();
    return { done: false, empty: el.isContentEditable ? !el.textContent : !el.value };
  };
  const see = () => isSeen(ask.target) ? { done: true } : { why: 'it is not to be seen' };
  let away = null;
  const unseen = () => {
    const now = performance.now();
    if (isSeen(ask.target)) { away = null; return { why: 'it is to be seen' }; }
    away = away === null ? now : away;
    return now - away >= ask.steady ? { done: true } : { why: 'it was to be seen a moment ago' };
  };
  const settled = () => document.readyState === 'complete' ? { done: true } : { why: 'it is still loading' };
  const drawn = () => new Promise((resolve) => {
    setTimeout(resolve, 500);
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  });
  switch (ask.what) {
    case 'spot': return until(spot);
    case 'field': return until(field);
    case 'see': return until(see);
    case 'unseen': return until(unseen);
    case 'settled': { const it = await until(settled); await drawn(); return it; }
    default: {
      const [entry] = performance.getEntriesByType('navigation');
      return { address: location.href, title: document.title, status: (entry || {}).responseStatus || 0, text: readable().slice(0, 600) };
    }
  }
})
