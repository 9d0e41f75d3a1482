import { merchantCall } from '@referrer/client/chain'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { ApiError } from '../../../api/error.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { refresh } from '../parts/chain-state.ts'
import { Transaction } from '../parts/transaction.tsx'
import type { OnChain } from '../parts/with-chain.tsx'

interface Props {
  onChain: OnChain
  merchantId: number
  isActive: boolean
  isSuspended: boolean
  isKnown: boolean
}

/** Open on the chain, then known to the market, which takes the session's word and no transaction. */
export function OpeningStep({ onChain, merchantId, isActive, isSuspended, isKnown }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const registering = useMutation({
    mutationFn: () =>
      api.post('/v1/merchant/register', { body: { merchant_id: merchantId } }).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.message !== 'merchant already registered') throw error
      }),
    onSuccess: () => refresh(queries),
  })
  const { mutate } = registering
  const isAsked = useRef(false)
  useEffect(() => {
    if (!isActive || isKnown || isAsked.current) return
    isAsked.current = true
    mutate()
  }, [isActive, isKnown, mutate])
  if (isSuspended) {
    return (
      <div className="note note-bad" role="alert">
        <p>
          <strong>Shop {merchantId} is suspended.</strong> Nobody can buy from it. Ask the people who run this
          market why.
        </p>
      </div>
    )
  }
  if (isActive && isKnown) return null
  if (!isActive) {
    return (
      <Transaction
        onChain={onChain}
        label="Open the shop"
        call={merchantCall(onChain.deployment.contracts.MerchantRegistry, 'setActive', [
          BigInt(merchantId),
          true,
        ])}
      >
        Opens shop {merchantId} for sales. They are paid to your wallet unless you choose another one later.
        You can close it at any time.
      </Transaction>
    )
  }
  return (
    <>
      <p role="status">
        {registering.isError
          ? 'The shop is open on the chain. The market does not know it yet.'
          : 'The shop is open on the chain. The market is told …'}
      </p>
      {registering.error && (
        <>
          <ErrorNote error={registering.error} />
          <Button onClick={() => mutate()} isBusy={registering.isPending}>
            Tell the market
          </Button>
        </>
      )}
    </>
  )
}
