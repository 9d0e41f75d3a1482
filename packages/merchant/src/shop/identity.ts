// The merchant's ERC-8004 identity. Minting costs money and cannot be undone, so a crash must not lead to a second one.
import { identityIn, refusalOf } from '@referrer/client/chain'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  encodeFunctionData,
  type Hash,
  isAddressEqual,
  keccak256,
  TransactionReceiptNotFoundError,
} from 'viem'
import type { Shop } from './connect.ts'
import { ShopError } from './report.ts'
import { mined } from './send.ts'

/** The identity that is named or known, if the key owns it; else the one whose minting was begun; else a new one. */
export async function ensureIdentity(shop: Shop, wanted: number | undefined): Promise<number> {
  const { project, owner, reporter } = shop
  const known = wanted ?? project.data.merchantId
  if (known !== undefined) {
    await requireOwned(shop, known)
    project.save({ merchantId: known })
    reporter.step({ name: 'identity', changed: false, text: `identity ${known} belongs to ${owner.address}` })
    return known
  }
  if (project.data.pendingIdentity === undefined) await signRegistration(shop)
  const transaction = await finishRegistration(shop)
  if (transaction === undefined) return ensureIdentity(shop, undefined)
  const { logs } = await mined(shop, transaction, 'the registration of the identity')
  const merchantId = Number(identityIn(logs))
  const { pendingIdentity: _done, ...data } = project.data
  project.replace({ ...data, merchantId })
  reporter.step({
    name: 'identity',
    changed: true,
    text: `minted identity ${merchantId} for ${owner.address}`,
    transaction,
  })
  return merchantId
}

/**
 * The signed transaction is on the disk before anybody else sees it. One of another run in this folder is not replaced: until that one is
 * sent, both have the same nonce, so the chain takes one of them only.
 */
async function signRegistration({ wallet, deployment, project }: Shop): Promise<void> {
  const request = await wallet.prepareTransactionRequest({
    to: deployment.contracts.IdentityRegistry,
    data: encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: [''] }),
  })
  const raw = await wallet.signTransaction(request)
  const { merchantId, pendingIdentity } = project.data
  if (merchantId !== undefined || pendingIdentity) return
  project.save({ pendingIdentity: { transaction: keccak256(raw), raw, nonce: request.nonce } })
}

/** Sends the pending registration, again if need be. Undefined: it can never be included, and is forgotten. */
async function finishRegistration({ client, owner, project }: Shop): Promise<Hash | undefined> {
  const { pendingIdentity } = project.data
  if (pendingIdentity === undefined) return undefined
  const { transaction, raw, nonce } = pendingIdentity
  const result = () =>
    client.getTransactionReceipt({ hash: transaction }).then(
      ({ status }) => status,
      (error: unknown) => {
        if (error instanceof TransactionReceiptNotFoundError) return undefined
        throw error
      },
    )
  let status = await result()
  const next = await client.getTransactionCount({ address: owner.address, blockTag: 'latest' })
  // Asked again: it may have been included between the two answers.
  if (next > nonce) status ??= await result()
  if (status === 'success') return transaction
  if (next > nonce) {
    const { pendingIdentity: _failed, ...data } = project.data
    project.replace(data)
    return undefined
  }
  const sent = await client.sendRawTransaction({ serializedTransaction: raw }).catch((error: unknown) => {
    // A node that has it already refuses it, each in words of its own: whether it is there is asked, not read.
    return client.getTransaction({ hash: transaction }).then(
      () => transaction,
      () => {
        throw error
      },
    )
  })
  return sent
}

async function requireOwned(shop: Shop, merchantId: number): Promise<void> {
  const holder = await ownerOf(shop, merchantId)
  if (holder !== undefined && isAddressEqual(holder, shop.owner.address)) return
  const whose = holder === undefined ? 'does not exist' : `belongs to ${holder}`
  const anew = shop.network.isSandbox
    ? '; if the sandbox was started anew, run referrer-merchant open --new'
    : ''
  throw new ShopError(
    `identity ${merchantId} ${whose}, and the key is that of ${shop.owner.address}: name your own with --merchant-id${anew}`,
  )
}

async function ownerOf({ client, deployment }: Shop, merchantId: number): Promise<Address | undefined> {
  try {
    return await client.readContract({
      address: deployment.contracts.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'ownerOf',
      args: [BigInt(merchantId)],
    })
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
    return undefined
  }
}
