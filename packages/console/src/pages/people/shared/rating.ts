/** A satisfaction from 0 to 1 as one to five stars. */
export const ratingOf = (satisfaction: number | null): number | null =>
  satisfaction === null ? null : 1 + 4 * satisfaction
