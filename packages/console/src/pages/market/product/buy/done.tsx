import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { plain } from '../../../../format/text.ts'
import { Usdc } from '../../../../ui/values.tsx'
import type { Connected } from '../../../../wallet/config.ts'
import type { CheckoutAnswer, Market } from './offer.ts'
import { readPaymentState } from './payment.ts'
import type { Bought } from './purchase.ts'

const MOST_SHOWN = 20_000
const EVERY_MS = 1_000

/** What was bought, and the way to the purchase. */
export function Done({
  bought,
  hasCashback,
  connected,
  find,
}: {
  bought: Bought
  hasCashback: boolean
  connected: Connected
  find: () => Promise<Market>
}) {
  const { answer, payment } = bought
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  // The shop may answer before the node of the wallet has seen the purchase.
  const { data: state } = useQuery({
    queryKey: ['bought', payment.chainId, payment.payer, payment.nonce],
    queryFn: async () => readPaymentState(connected.reads, await find(), payment),
    refetchInterval: ({ state: { data } }) => (data?.escrowId === undefined ? EVERY_MS : false),
  })
  const escrowId = state?.escrowId === undefined ? undefined : String(state.escrowId)
  return (
    <div className="stack">
      <div className="note note-good" role="status">
        <h3 ref={heading} tabIndex={-1}>
          Bought
        </h3>
        <p>
          You paid <Usdc amount={BigInt(payment.amount)} />, and the shop has answered.
        </p>
        {escrowId !== undefined && (
          <p className="row">
            <Link to="/escrow/$escrowId" params={{ escrowId }}>
              Where the money went
            </Link>
            <Link to="/me/purchase/$escrowId" params={{ escrowId }}>
              {hasCashback ? 'Review it and vote, for the cashback' : 'Review it and vote'}
            </Link>
          </p>
        )}
      </div>
      <Answer answer={answer} />
    </div>
  )
}

/** Text as text, never as a page; anything else only to download. */
function Answer({ answer }: { answer: CheckoutAnswer }) {
  const { body, is_base64, content_type } = answer
  const href = useDownload(answer)
  return (
    <figure className="code">
      <figcaption>
        <span>What you bought{content_type ? ` (${plain(content_type, 60)})` : ''}</span>
        {href && (
          <a href={href} download={`purchase.${is_base64 ? 'bin' : 'txt'}`}>
            Download
          </a>
        )}
      </figcaption>
      {is_base64 ? (
        <p className="code-note">This is not text. Download it; open it only if you trust the shop.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard has to be able to scroll it
        <pre tabIndex={0} className="wrapped">
          {plain(body, MOST_SHOWN)}
        </pre>
      )}
    </figure>
  )
}

/** An address for the download, with a type that no browser opens as a page. */
function useDownload({ body, is_base64 }: CheckoutAnswer): string | undefined {
  const [href, setHref] = useState<string>()
  useEffect(() => {
    const bytes = is_base64 ? Uint8Array.from(atob(body), (char) => char.charCodeAt(0)) : body
    const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
    setHref(url)
    return () => URL.revokeObjectURL(url)
  }, [body, is_base64])
  return href
}
