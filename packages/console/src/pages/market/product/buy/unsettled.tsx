import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { full } from '../../../../format/moment.ts'
import { Button } from '../../../../ui/button.tsx'
import { ErrorNote } from '../../../../ui/errors.tsx'
import { Usdc } from '../../../../ui/values.tsx'
import { problemOf } from '../../../../wallet/problem.ts'
import type { PaymentState } from './payment.ts'
import { useQuestion } from './question-field.tsx'
import type { SignedPayment } from './signed-payments.ts'

const EVERY_MS = 3_000

interface Props {
  payment: SignedPayment
  isSending: boolean
  error: unknown
  /** Shows the way to take the money back, where a refusal told it. */
  takeBack: ((onDone: () => void) => ReactNode) | undefined
  read: () => Promise<PaymentState>
  onSend: (query: Record<string, string>) => void
  onForget: () => void
}

/** A payment that is signed and whose end is not known yet. Nobody signs a second one before it is. */
export function Unsettled({ payment, isSending, error, takeBack, read, onSend, onForget }: Props) {
  const { data: state, refetch } = useQuery({
    queryKey: ['payment', payment.chainId, payment.payer, payment.nonce],
    queryFn: read,
    refetchInterval: EVERY_MS,
    enabled: !isSending,
    retry: false,
  })
  const question = useQuestion(payment.query)
  function send() {
    const query = question.read()
    if (query) onSend(query)
  }
  if (isSending) {
    return (
      <p role="status" className="note">
        Your payment is signed. The shop takes it and prepares what you bought: this needs a few seconds …
      </p>
    )
  }
  const isOver = state?.isVoid || state?.isBack
  return (
    <div className="stack">
      {Boolean(error) && <ErrorNote error={problemOf(error)} />}
      <div className="note" role="status">
        {state?.escrowId !== undefined ? (
          <p>
            <strong>
              You paid <Usdc amount={BigInt(payment.amount)} />.
            </strong>{' '}
            The shop has not handed over what you bought. Ask it again: the same payment is shown, and nothing
            is paid again.
          </p>
        ) : state?.isBack ? (
          <p>
            <strong>Your money is back in your wallet.</strong> You can start again.
          </p>
        ) : state?.isTaken ? (
          <p>
            <strong>The market’s contract has your money, and it has paid for nothing yet.</strong> Send the
            same payment again: it is finished, or you can take the money back.
          </p>
        ) : state?.isVoid ? (
          <p>
            <strong>Nothing was paid.</strong> Your permission was not used in time and has expired. You can
            start again.
          </p>
        ) : (
          <p>
            <strong>
              {state ? 'Nothing has been taken so far.' : 'It is not known yet whether you paid.'}
            </strong>{' '}
            Your permission for <Usdc amount={BigInt(payment.amount)} /> is valid until{' '}
            {full(payment.validBefore * 1_000)}. Send the same one again, with another question if the shop
            wants one: it can be taken only once. Or wait until it has expired.
          </p>
        )}
      </div>
      {state?.isTaken && takeBack?.(refetch)}
      {state?.escrowId === undefined && !isOver && question.field}
      <div className="row">
        {isOver ? (
          <Button kind="main" onClick={onForget}>
            Start again
          </Button>
        ) : (
          <Button kind="main" onClick={send}>
            Send the same payment again
          </Button>
        )}
        {state?.escrowId !== undefined && (
          <>
            <Link to="/escrow/$escrowId" params={{ escrowId: String(state.escrowId) }}>
              See where the money is
            </Link>
            <Button kind="quiet" onClick={onForget}>
              Stop waiting for the shop
            </Button>
          </>
        )}
      </div>
    </div>
  )
}
