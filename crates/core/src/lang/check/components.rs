//! Which places lie on a cycle together, and the cycles between them.

use std::collections::{BTreeMap, VecDeque};

use super::graph::{Graph, Spot};

/// For every place the component it belongs to: places that can be reached from one another by the ways that count.
///
/// Tarjan's algorithm with its own stack, since a file may be a very long chain of stages.
pub(super) fn components(graph: &Graph, counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let spots = graph.spots();
    let next: Vec<Vec<usize>> = (0..spots)
        .map(|at| {
            graph
                .ways_at(at)
                .filter(|(way, _)| counts(*way))
                .filter_map(|(_, way)| way.to)
                .map(Spot::at)
                .collect()
        })
        .collect();
    strongly_connected(&next)
}

/// For every node of a graph, given as the nodes that follow each, its component.
fn strongly_connected(next: &[Vec<usize>]) -> Vec<usize> {
    let spots = next.len();
    let mut finder = Finder {
        order: vec![None; spots],
        low: vec![0; spots],
        on_stack: vec![false; spots],
        stack: Vec::new(),
        component: vec![0; spots],
        orders: 0,
        components: 0,
    };
    for root in 0..spots {
        if finder.order[root].is_none() {
            finder.visit(root, next);
        }
    }
    finder.component
}

struct Finder {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    component: Vec<usize>,
    orders: usize,
    components: usize,
}

impl Finder {
    fn open(&mut self, at: usize) {
        self.order[at] = Some(self.orders);
        self.low[at] = self.orders;
        self.orders += 1;
        self.stack.push(at);
        self.on_stack[at] = true;
    }

    fn visit(&mut self, root: usize, next: &[Vec<usize>]) {
        self.open(root);
        let mut path = vec![(root, 0)];
        while let Some((at, tried)) = path.last_mut() {
            let at = *at;
            if let Some(to) = next[at].get(*tried).copied() {
                *tried += 1;
                match self.order[to] {
                    None => {
                        self.open(to);
                        path.push((to, 0));
                    }
                    Some(order) if self.on_stack[to] => self.low[at] = self.low[at].min(order),
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[at]);
            }
            if Some(self.low[at]) == self.order[at] {
                self.close(at);
            }
        }
    }

    fn close(&mut self, root: usize) {
        while let Some(at) = self.stack.pop() {
            self.on_stack[at] = false;
            self.component[at] = self.components;
            if at == root {
                break;
            }
        }
        self.components += 1;
    }
}

/// A shortest path from one place to another by the ways that count; empty when they are the same.
pub(super) fn shortest(
    graph: &Graph,
    from: Spot,
    to: Spot,
    counts: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut came: BTreeMap<Spot, usize> = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(spot) = open.pop_front() {
        if spot == to {
            let mut ways = Vec::new();
            let mut at = to;
            while at != from {
                let way = came[&at];
                ways.push(way);
                at = graph.ways[way].from;
            }
            ways.reverse();
            return Some(ways);
        }
        for (at, way) in graph.from(spot).filter(|(at, _)| counts(*at)) {
            if let Some(next) = way.to
                && next != from
                && !came.contains_key(&next)
            {
                came.insert(next, at);
                open.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What can be reached from each node, itself included.
    fn reachable(next: &[Vec<usize>]) -> Vec<Vec<bool>> {
        let from = |start: usize| {
            let mut seen = vec![false; next.len()];
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                if !std::mem::replace(&mut seen[at], true) {
                    open.extend(&next[at]);
                }
            }
            seen
        };
        (0..next.len()).map(from).collect()
    }

    proptest! {
        #[test]
        fn together_is_what_can_be_reached_from_one_another(
            next in (1..8_usize).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n, 0..4), n))
        ) {
            let component = strongly_connected(&next);
            let reach = reachable(&next);
            for a in 0..next.len() {
                for b in 0..next.len() {
                    let together = reach[a][b] && reach[b][a];
                    prop_assert_eq!(component[a] == component[b], together, "{} and {} of {:?}", a, b, next);
                }
            }
        }
    }

    #[test]
    fn a_way_to_a_finished_component_joins_nothing() {
        // 1 and 2 go round; 0 leads to them and 3, and 3 leads to them.
        let component = strongly_connected(&[vec![1, 3], vec![2], vec![1], vec![2]]);
        assert_eq!(component[1], component[2]);
        assert!(
            component[0] != component[1]
                && component[3] != component[1]
                && component[0] != component[3]
        );
    }
}
