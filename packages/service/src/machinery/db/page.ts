/** Which part of a list is asked for. */
export interface Page {
  limit: number
  offset: number
}

/** Pages count from 1. */
export const offsetOf = ({ page, limit }: { page: number; limit: number }): number => (page - 1) * limit
