import type { ComponentProps } from 'react'

type Props = ComponentProps<'button'> & {
  kind?: 'main' | 'plain' | 'quiet' | 'bad'
  isBusy?: boolean
}

/** While it is busy it stays focused and says so, and does nothing. */
export const Button = ({
  kind = 'plain',
  isBusy = false,
  className = '',
  children,
  onClick,
  ...rest
}: Props) => (
  <button
    type="button"
    {...rest}
    className={`button button-${kind} ${className}`}
    aria-busy={isBusy || undefined}
    aria-disabled={isBusy || rest.disabled || undefined}
    onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
  >
    {children}
  </button>
)
