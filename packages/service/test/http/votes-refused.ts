// Votes that both steps refuse for their content: what replaces a valid body or some of its keys, and the error text.

const vote = (review_id: unknown, reasoning: unknown) => ({ review_id, reasoning })
const good = (count: number) => Array.from({ length: count }, (_, at) => vote(at + 1, 'It was right.'))
const INVALID = 'invalid request'
const REQUIRED = 'reasoning is required for each vote: invalid input'

type Refused = [title: string, sent: string | Record<string, unknown>, error: string]

export const votesRefused: Refused[] = [
  ['a body that is no JSON [VOTE-05]', '{', INVALID],
  ['a body that is no object [VOTE-05]', '[]', INVALID],
  ['an empty body [VOTE-05]', '', INVALID],
  ['a negative agent [VOTE-03]', { agent_id: -1 }, INVALID],
  ['a negative escrow [VOTE-04]', { escrow_id: -1 }, INVALID],
  ['an agent that is text', { agent_id: '0' }, INVALID],
  ['an escrow that is text', { escrow_id: '1' }, INVALID],
  ['half an agent', { agent_id: 0.5 }, INVALID],
  ['an escrow that is no safe integer', { escrow_id: 2 ** 53 }, INVALID],
  ['votes that are no array', { votes: vote(1, 'x') }, INVALID],
  ['votes that are text', { votes: 'all' }, INVALID],
  ['a vote that is a number', { votes: [1] }, INVALID],
  ['a vote that is null', { votes: [null] }, INVALID],
  ['a vote on a negative review', { votes: [vote(-1, 'x')] }, INVALID],
  ['a vote on a review that is text', { votes: [vote('1', 'x')] }, INVALID],
  ['a vote on a review that is no safe integer', { votes: [vote(2 ** 53, 'x')] }, INVALID],
  ['reasoning with half a character', { votes: [vote(1, '\ud800')] }, INVALID],
  ['reasoning with a character that no database takes', { votes: [vote(1, 'a\0b')] }, INVALID],
  ['no votes [VOTE-06]', { votes: [] }, 'votes must contain 1\u20133 items, got 0: invalid input'],
  ['four votes [VOTE-07]', { votes: good(4) }, 'votes must contain 1\u20133 items, got 4: invalid input'],
  [
    'a hundred votes [VOTE-07]',
    { votes: good(100) },
    'votes must contain 1\u20133 items, got 100: invalid input',
  ],
  ['a vote without reasoning [VOTE-09]', { votes: [{ review_id: 1 }] }, REQUIRED],
  ['a vote whose reasoning is null [VOTE-09]', { votes: [vote(1, null)] }, REQUIRED],
  ['a vote with empty reasoning [VOTE-09]', { votes: [vote(1, '')] }, REQUIRED],
  ['a third vote with empty reasoning [VOTE-09]', { votes: [...good(2), vote(3, '')] }, REQUIRED],
  ['a vote with spaces as reasoning [VOTE-10]', { votes: [vote(1, '   ')] }, REQUIRED],
  ['a vote with all kinds of spaces [VOTE-10]', { votes: [vote(1, '\t\n\r \u00a0\u3000')] }, REQUIRED],
  ['spaces that are too many [VOTE-10]', { votes: [vote(1, ' '.repeat(300))] }, REQUIRED],
  [
    'reasoning of 281 characters [VOTE-11]',
    { votes: [vote(1, 'short'), vote(42, 'a'.repeat(281))] },
    'reasoning exceeds 280 characters for review_id 42: invalid input',
  ],
  [
    'reasoning of 281 characters of two surrogates each [VOTE-11, VOTE-12]',
    { votes: [vote(0, '\u{1f600}'.repeat(281))] },
    'reasoning exceeds 280 characters for review_id 0: invalid input',
  ],
  [
    'two votes on one review [VOTE-13]',
    { votes: [vote(3, 'a'), vote(3, 'b')] },
    'duplicate review_id 3 in votes: invalid input',
  ],
  [
    'two votes on one review, and another between [VOTE-13]',
    { votes: [vote(3, 'a'), vote(4, 'b'), vote(3, 'a')] },
    'duplicate review_id 3 in votes: invalid input',
  ],
]
