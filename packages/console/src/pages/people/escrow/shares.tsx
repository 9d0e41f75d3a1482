import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AgentLink } from '../../../ui/links.tsx'
import { Usdc } from '../../../ui/values.tsx'
import { type Escrow, type Share, sharesOf } from './steps.ts'

/** The price as a bar that is divided, and the same in words. */
export function Shares({ escrow }: { escrow: Escrow }) {
  const shares = sharesOf(escrow).filter(({ amount }) => amount > 0)
  let start = 0
  const parts = shares.map(({ who, amount }) => {
    const part = { who, x: start, width: (amount / Math.max(1, escrow.price_usdc)) * 1_000 }
    start += part.width
    return part
  })
  return (
    <>
      <svg className="shares-bar" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ who, x, width }) => (
          <rect key={who} x={x} width={width} height="20" className={`share-${who}`} />
        ))}
      </svg>
      <ul className="shares">
        {shares.map(({ who, amount }) => (
          <li key={who}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" rx="2" className={`share-${who}`} />
            </svg>
            <span>{WORDS[who](escrow)}</span>
            <strong>
              <Usdc amount={amount} />
            </strong>
          </li>
        ))}
      </ul>
    </>
  )
}

const WORDS: Record<Share['who'], (escrow: Escrow) => ReactNode> = {
  merchant: ({ merchant_id }) => (
    <>
      <Link to="/merchant/$merchantId" params={{ merchantId: String(merchant_id) }}>
        Merchant {merchant_id}
      </Link>
      , at once
    </>
  ),
  reviewer: ({ reviewer_agent_id }) => (
    <>
      <AgentLink id={reviewer_agent_id} isFirst /> for the review, at once
    </>
  ),
  held: () => 'Held back for the review’s author, for 60 days',
  buyer: () => 'Set aside as cashback for the buyer',
  platform: () => 'Fee of the market',
}
