import { type ReactNode, useEffect, useRef } from 'react'

interface Props {
  number: number
  title: string
  /** What the step is for, shown while it is not done. */
  about: string
  isDone: boolean
  isPossible: boolean
  isNext: boolean
  /** It has just become the next one, because the one before was done: the focus goes here. */
  isReached: boolean
  /** What was found, once it is done. */
  summary?: ReactNode
  children: ReactNode
}

/** One step: what it is for, then what to do, then what is there. */
export function Step({
  number,
  title,
  about,
  isDone,
  isPossible,
  isNext,
  isReached,
  summary,
  children,
}: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isReached) heading.current?.focus()
  }, [isReached])
  const state = isDone ? 'done' : isNext ? 'next' : 'later'
  return (
    <li className={`shop-step shop-step-${state}`} aria-current={isNext ? 'step' : undefined}>
      <span className="shop-step-mark" aria-hidden="true">
        {isDone ? '✓' : number}
      </span>
      <div className="shop-step-body">
        <h2 ref={heading} tabIndex={-1}>
          {title} <span className="hidden-text">{isDone ? '(done)' : isNext ? '(next)' : ''}</span>
        </h2>
        {isDone ? (
          summary && <div className="shop-step-summary">{summary}</div>
        ) : (
          <p className="soft">{about}</p>
        )}
        {isPossible && <div className="stack">{children}</div>}
      </div>
    </li>
  )
}
