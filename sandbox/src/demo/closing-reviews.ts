export interface ClosingReview {
  /** Which of the first two reviewers. */
  by: 0 | 1
  path: string
  content: { rating: number; description: string } & Record<string, unknown>
}

/** On the last day, in this order: the last is the first that a newcomer is shown. */
export const CLOSING_REVIEWS: readonly ClosingReview[] = [
  {
    by: 0,
    path: '/almanac',
    content: {
      rating: 5,
      description:
        'A whole year of daylight in one answer. Checked a dozen days against a printed almanac: all within two minutes.',
    },
  },
  {
    by: 0,
    path: '/summary',
    content: {
      rating: 4,
      description:
        'Picks real sentences instead of inventing new ones, so nothing in it is made up. Good for news, weak for lists.',
    },
  },
  {
    by: 1,
    path: '/summary',
    content: {
      rating: 2,
      description: 'Trips over abbreviations: a sentence that begins with a title is cut after it.',
    },
  },
  {
    by: 1,
    path: '/daylight',
    content: {
      rating: 3,
      description:
        'Right where people live. Beyond the polar circles it only says that there is no sunrise, not for how long.',
      calls: 40,
      successes: 38,
      failures: 2,
      latency_ms: { p50: 41, p95: 90, p99: 140 },
      cost_usdc: '0.40',
      cost_per_call_usdc: '0.01',
    },
  },
  {
    by: 0,
    path: '/daylight',
    content: {
      rating: 5,
      description:
        'Answers at once and agrees with the national almanacs to the minute. A cent is a fair price.',
      calls: 120,
      successes: 120,
      failures: 0,
      latency_ms: { p50: 38, p95: 71, p99: 95 },
      cost_usdc: '1.20',
      cost_per_call_usdc: '0.01',
    },
  },
]
