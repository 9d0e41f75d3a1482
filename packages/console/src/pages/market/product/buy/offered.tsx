import { formatUsdc } from '../../../../format/usdc.ts'
import { Button } from '../../../../ui/button.tsx'
import { Code, Facts } from '../../../../ui/parts.tsx'
import { Hash, Usdc } from '../../../../ui/values.tsx'
import type { RefLink } from '../questions.ts'
import type { Market, Offer } from './offer.ts'
import { sharesOf } from './shares.ts'

interface Props {
  offer: Offer
  market: Market
  target: RefLink
  commissionBps: number
  listedPrice: number | undefined
  /** Says what the wallet lacks. */
  missing: string | undefined
  faucet: string | undefined
  address: string
  isBusy: boolean
  onPay: () => void
}

/** What is signed, before it is signed. */
export function Offered({
  offer,
  market,
  target,
  commissionBps,
  listedPrice,
  missing,
  faucet,
  address,
  isBusy,
  onPay,
}: Props) {
  const shares = sharesOf(offer.amount, commissionBps, target.cashback_of_commission_bps)
  const price = formatUsdc(offer.amount)
  return (
    <section className="offered stack" aria-label="What you will sign">
      {listedPrice !== undefined && BigInt(listedPrice) !== offer.amount && (
        <div className="note" role="status">
          <p>
            <strong>The price has changed.</strong> The shop asks for {price} USDC now, not for{' '}
            {formatUsdc(listedPrice)} USDC.
          </p>
        </div>
      )}
      <Facts
        facts={[
          ['Price', <Usdc key="price" amount={offer.amount} />],
          [
            'Back to you, at most',
            shares.cashback === 0n ? 'nothing' : <Usdc key="cashback" amount={shares.cashback} />,
          ],
          ['Gas', 'none'],
          ['Paid to', <Hash key="router" value={market.router} label="address of the split contract" />],
        ]}
      />
      {missing === undefined ? (
        <>
          <p>
            Your wallet will show a permission (<code>TransferWithAuthorization</code>) for the market’s split
            contract to take exactly {price} USDC, once, within {offer.requirements.maxTimeoutSeconds}{' '}
            seconds.
          </p>
          <Button kind="main" isBusy={isBusy} onClick={onPay}>
            {isBusy ? 'Waiting for your wallet …' : `Sign and pay ${price} USDC`}
          </Button>
        </>
      ) : (
        <div className="note note-bad" role="alert">
          <p>
            <strong>{missing}.</strong> Send USDC to your wallet, then ask for the price again.
          </p>
          {faucet && (
            <>
              <p>This is a sandbox: its faucet gives you some for nothing.</p>
              <Code
                label="ask the faucet"
                text={`curl -X POST ${faucet} -H 'content-type: application/json' -d '{"address":"${address}"}'`}
              />
            </>
          )}
        </div>
      )}
    </section>
  )
}
