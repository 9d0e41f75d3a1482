/** Whether a review counts as contradicted for payouts. A dispute that no admin decided in time counts in favour of the author. */
export const isContradicted = ({
  comparison_outcome,
  upheld,
}: {
  /** Null when there is no comparison; `upheld` is null when no admin has decided. */
  comparison_outcome: string | null
  upheld: boolean | null
}): boolean => comparison_outcome === 'contradicted' || (comparison_outcome === 'resolved' && upheld === true)
