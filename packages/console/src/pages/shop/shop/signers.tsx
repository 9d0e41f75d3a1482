import { merchantCall, SETTLEMENT_SIGNER_ROLE } from '@referrer/client/chain'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Address, isAddressEqual } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Code } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Hash } from '../../../ui/values.tsx'
import { Change } from '../parts/change.tsx'
import { typedAddress } from '../parts/form-text.ts'
import { Transaction } from '../parts/transaction.tsx'
import { useChecked } from '../parts/use-checked.ts'
import type { OnChain } from '../parts/with-chain.tsx'

interface Props {
  onChain: OnChain
  merchantId: number
}

const roleCall = (
  { deployment }: OnChain,
  functionName: 'grantRole' | 'revokeRole',
  merchantId: number,
  account: Address,
) =>
  merchantCall(deployment.contracts.MerchantRegistry, functionName, [
    BigInt(merchantId),
    SETTLEMENT_SIGNER_ROLE,
    account,
  ])

/** Keys of the shop's servers: they may ask for settlements in its name, and nothing else. */
export function Signers({ onChain, merchantId }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { data, error } = useQuery(
    read(useApi(), '/v1/merchant/{id}/signers', { params: { path: { id: merchantId } } }),
  )
  return (
    <section className="card">
      <h3 ref={heading} tabIndex={-1}>
        Server keys
      </h3>
      <p>
        A server signs with its own key when it has a payment settled. It cannot move money, change prices or
        close the shop, so your wallet’s key never has to be on a server.
      </p>
      {error && <ErrorNote error={error} />}
      {!data && !error && <Skeleton lines={2} />}
      {data && data.signers.length === 0 && <p className="soft">No key yet.</p>}
      {data && data.signers.length > 0 && (
        <ul className="list">
          {data.signers.map((account) => (
            <li key={account}>
              <Hash value={account} label="address of the key" />
              <Change label={`Take back ${account.slice(0, 6)}…${account.slice(-4)}`}>
                {() => (
                  <Transaction
                    onChain={onChain}
                    label="Take the key back"
                    kind="bad"
                    call={roleCall(onChain, 'revokeRole', merchantId, account as Address)}
                    done="The key is taken back"
                    onDone={() => heading.current?.focus()}
                  >
                    A server that still uses this key cannot settle from the next block on where the market
                    asks for signatures. Give it another key first.
                  </Transaction>
                )}
              </Change>
            </li>
          ))}
        </ul>
      )}
      <Change label="Add a server key">
        {(close) => <SignerForm onChain={onChain} merchantId={merchantId} onDone={close} />}
      </Change>
    </section>
  )
}

function SignerForm({ onChain, merchantId, onDone }: Props & { onDone: () => void }) {
  const [text, setText] = useState('')
  const [secret, setSecret] = useState<string>()
  const { form, told, showErrors } = useChecked()
  const typed = typedAddress(text)
  const isOwn = typed.value !== undefined && isAddressEqual(typed.value, onChain.connected.address)
  const error = typed.error ?? (isOwn ? 'Not your own wallet: a server’s key can be stolen.' : undefined)
  function make() {
    const made = generatePrivateKey()
    setSecret(made)
    setText(privateKeyToAddress(made))
  }
  return (
    <form className="form" ref={form} noValidate onSubmit={(event) => event.preventDefault()}>
      <Field label="Address of the server’s key" error={told(error)} help="Made by your server, or here.">
        <FieldControl value={text} onChange={(event) => setText(event.target.value)} placeholder="0x…" />
      </Field>
      <div>
        <Button onClick={make}>Make a key here</Button>
      </div>
      {secret && (
        <div className="note">
          <p>
            Put this line into the environment of your server now. It is shown only here, was made in this
            browser, and was sent to nobody.
          </p>
          <Code label="line for .env" text={`MERCHANT_SIGNING_KEY=${secret}`} />
        </div>
      )}
      <Transaction
        onChain={onChain}
        label="Allow this key"
        call={typed.value && !isOwn ? roleCall(onChain, 'grantRole', merchantId, typed.value) : undefined}
        onIncomplete={showErrors}
        done="The key may ask for settlements"
        onDone={() => (secret ? setText('') : onDone())}
      >
        The key may ask for settlements in the name of shop {merchantId}, until you take it back.
      </Transaction>
    </form>
  )
}
