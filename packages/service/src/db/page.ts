/** Which part of a list is asked for. */
export interface Page {
  limit: number
  offset: number
}
