import type { ReactNode } from 'react'

export type StepState = 'done' | 'now' | 'later'

const WORDS: Record<StepState, string> = { done: 'Done', now: 'To do', later: 'Later' }

/** One of the things to do, in order. */
export const Step = ({
  number,
  title,
  state,
  children,
}: {
  number: number
  title: string
  state: StepState
  children?: ReactNode
}) => (
  <li className={`to-do to-do-${state}`}>
    <span className="to-do-mark" aria-hidden="true">
      {state === 'done' ? '✓' : number}
    </span>
    <div className="stack">
      <h2>
        {title} <span className="hidden-text">({WORDS[state]})</span>
      </h2>
      {children}
    </div>
  </li>
)
