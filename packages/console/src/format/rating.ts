/** A satisfaction from 0 to 1 as one to five stars. */
export function ratingOf(satisfaction: number): number
export function ratingOf(satisfaction: number | null): number | null
export function ratingOf(satisfaction: number | null): number | null {
  return satisfaction === null ? null : 1 + 4 * satisfaction
}
