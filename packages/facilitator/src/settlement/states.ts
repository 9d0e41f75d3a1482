// The life of a payment: its states, and the transitions between them. docs/paying.md draws the same machine; a test compares the two.

/** Known to one process only. A crash there leaves what Postgres holds. */
export const MEMORY_STATES = ['queued', 'used', 'arrived', 'taken', 'checked', 'refused'] as const

/** Told by the payment's row in `facilitator.settlements` and its transaction in `sender.intents`: every process goes on from there. */
export const STORED_STATES = ['open', 'enqueued', 'sent', 'settled', 'failed', 'final'] as const

export type MemoryState = (typeof MEMORY_STATES)[number]
export type StoredState = (typeof STORED_STATES)[number]
export type State = MemoryState | StoredState

/** What a mined transaction did for a payment. */
export type Outcome = 'settled' | 'failed'

/** The state of a new request: of a signed payment, and of a transfer that is in the router already. */
export const FIRST_STATES = ['queued', 'arrived'] as const satisfies State[]

/** From each state, the states that may follow it and the name of the transition. */
export const TRANSITIONS = {
  queued: { checked: 'approve', used: 'find used', taken: 'find row', refused: 'refuse' },
  used: { arrived: 'locate', final: 'adopt', taken: 'find row', refused: 'refuse' },
  arrived: { checked: 'approve', taken: 'find row', refused: 'refuse' },
  taken: { enqueued: 'follow', queued: 'retry', refused: 'refuse' },
  checked: { enqueued: 'write', taken: 'find row', refused: 'refuse' },
  refused: {},
  open: { queued: 'try', arrived: 'try' },
  enqueued: { sent: 'sign', open: 'withdraw' },
  sent: { settled: 'mine', failed: 'mine', enqueued: 'lose nonce' },
  settled: { final: 'finalise', sent: 'reorganise' },
  failed: { open: 'finalise', sent: 'reorganise', used: 'find used', queued: 'try', arrived: 'try' },
  final: {},
} as const satisfies Record<State, Partial<Record<State, string>>>

/** The states that may follow. */
export type Next<S extends State> = { [K in S]: keyof (typeof TRANSITIONS)[K] }[S]

export const canFollow = (from: State, to: State): boolean => to in TRANSITIONS[from]

/** Mined, in a block that a reorganisation could still undo. */
export const isMined = (state: State): state is Outcome => state === 'settled' || state === 'failed'

export class IllegalTransition extends Error {
  override readonly name = 'IllegalTransition'

  constructor(from: State, to: State) {
    super(`a payment that is ${from} cannot become ${to}`)
  }
}

/** The only way to change the state of a payment in memory. The statements of store.ts refuse the same for a row. */
export function move(payment: { state: State }, to: State): void {
  if (!canFollow(payment.state, to)) throw new IllegalTransition(payment.state, to)
  payment.state = to
}

/** The state that Postgres tells. `nonce`: of the transaction, once it is signed. */
export function storedState(
  { state, isFinal }: { state: 'open' | 'pending' | 'settled'; isFinal: boolean },
  { nonce }: { nonce: number | null },
): StoredState {
  if (state === 'pending') return nonce === null ? 'enqueued' : 'sent'
  if (state === 'settled') return isFinal ? 'final' : 'settled'
  return isFinal ? 'open' : 'failed'
}
