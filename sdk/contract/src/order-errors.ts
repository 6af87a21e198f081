/** What buying and giving back can be refused for: part of the error catalogue. */
export const orderErrors = {
  price_changed: {
    exit: 1,
    status: 409,
    summary: 'The price is another one than the buyer was shown; nothing was bought.',
  },
  not_for_sale: { exit: 1, status: 409, summary: 'There is no licence of it to buy.' },
  self_purchase: { exit: 1, status: 409, summary: 'Buyer and seller are the same people.' },
  insufficient_funds: { exit: 1, status: 402, summary: 'The balance does not hold what it costs.' },
  spend_cap_exceeded: {
    exit: 1,
    status: 402,
    summary: 'A spend cap of the account or of the token leaves too little, or it costs more than `--max`.',
  },
  spend_cap_not_found: { exit: 1, status: 404, summary: 'There is no such spend cap, or it is not yours to change.' },
  order_not_found: { exit: 1, status: 404, summary: 'There is no such order, or it is not yours to see.' },
  order_state_conflict: { exit: 1, status: 409, summary: 'The order is not in a state in which that can be done.' },
  refund_exceeds: { exit: 1, status: 409, summary: 'More is to be given back than is left of the order.' },
  refund_refused: { exit: 1, status: 409, summary: 'The buyer cannot take that back without the seller.' },
} as const
