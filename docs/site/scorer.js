// Sphinx's own weights, and what a heading of the questions holds before what others hold.
var Scorer = {
  score: ([page, , anchor, , score]) => score + (page !== "guides" ? 0 : anchor ? 17 : 9),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
