/** Whether a review stands contradicted, for money: a dispute that no admin has ended in time holds nothing against the author. */
export const isContradicted = ({
  comparison_outcome,
  upheld,
}: {
  /** Null, as is what an admin decided: nothing. */
  comparison_outcome: string | null
  upheld: boolean | null
}): boolean => comparison_outcome === 'contradicted' || (comparison_outcome === 'resolved' && upheld === true)
