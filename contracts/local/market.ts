import { Attribution, Authorization, Commitment, ContentHash } from '@referrer/protocol'
import {
  addressRegistryAbi,
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
  sandboxUSDCAbi,
  splitRouterAbi,
} from '@referrer/protocol/abi'
import {
  type Account,
  type Address,
  type Hex,
  type LocalAccount,
  numberToHex,
  parseEventLogs,
  type TransactionReceipt,
  zeroHash,
} from 'viem'
import type { HDAccount } from 'viem/accounts'
import {
  type Addresses,
  executePlan,
  parseDeploymentConfig,
  planDeployment,
  type Step,
} from '../deploy/index.ts'
import { type AccountRole, developmentAccounts, isDevelopmentAccount } from './accounts.ts'
import type { LocalClient } from './chain.ts'

/** A deployed market on a local chain, and the people in it. */
export interface Market {
  client: LocalClient
  addresses: Addresses
  accounts: Record<AccountRole, HDAccount>
}

export interface Product {
  merchantId: bigint
  productId: Hex
}

/** What a buyer signs and a settler submits. */
export interface Purchase {
  authorization: {
    kind: 0 | 1
    from: Address
    value: bigint
    validAfter: bigint
    validBefore: bigint
    nonce: Hex
    signature: Hex
  }
  attribution: Attribution.Attribution
}

/** The EIP-712 domain that the sandbox token signs with, the same as on Base. */
export const SANDBOX_TOKEN = { name: 'USD Coin', version: '2' } as const

/** Enough for the first mint of an account; the node would reserve a whole block otherwise. */
const MINT_GAS = 200_000n
/** Enough for each of the other calls that stores no text. */
const CALL_GAS = 1_000_000n

const AUTHORIZATION_KINDS = ['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const

/** Deploys everything, with the roles held by the development accounts. */
export async function deployMarket(
  client: LocalClient,
  onStep?: (step: Step, index: number, total: number) => void,
): Promise<Market> {
  const accounts = developmentAccounts()
  const config = parseDeploymentConfig({
    chainId: client.chain.id,
    sandbox: true,
    treasury: accounts.treasury.address,
    admin: accounts.admin.address,
    adminDelay: 0,
    settlers: [accounts.settler.address],
    oracles: [accounts.oracle.address],
    publishers: [accounts.publisher.address],
    guardians: [accounts.guardian.address],
  })
  const plan = await planDeployment(client, accounts.deployer.address, config)
  await executePlan(plan, client, heldByNode(accounts.deployer), onStep)
  const market = { client, addresses: plan.addresses, accounts }
  await acceptAdmin(market)
  return market
}

/** Signed by the node, which has the keys of the development accounts too, and is much quicker at it. */
const heldByNode = ({ address }: HDAccount) => ({ address, type: 'json-rpc' }) as const

/** The sender of a call. The node signs for whom it can; what the call will cost is asked first only if it stores a text of any length. */
const sender = (account: LocalAccount, text = ''): { account: Account; gas?: bigint } =>
  isDevelopmentAccount(account) && text === '' ? { account: heldByNode(account), gas: CALL_GAS } : { account }

/** The second step of the hand-over that the deployment began. */
async function acceptAdmin(market: Market): Promise<void> {
  const { AddressRegistry, MerchantRegistry, ReviewRegistry, CommissionEscrow, SplitRouter } =
    market.addresses
  const account = heldByNode(market.accounts.admin)
  // What was offered can be taken from the next second on.
  await market.client.increaseTime({ seconds: 1 })
  for (const address of [MerchantRegistry, ReviewRegistry, CommissionEscrow, SplitRouter]) {
    const call = {
      account,
      address,
      abi: splitRouterAbi,
      functionName: 'acceptDefaultAdminTransfer',
    } as const
    await confirmed(market, await market.client.writeContract(call))
  }
  const call = {
    account,
    address: AddressRegistry,
    abi: addressRegistryAbi,
    functionName: 'acceptOwnership',
  } as const
  await confirmed(market, await market.client.writeContract(call))
}

/** Waits for a transaction and insists that it took effect. */
export async function confirmed(market: Market, hash: Hex): Promise<TransactionReceipt> {
  // On a chain of a block per transaction it is there already.
  const receipt =
    (await market.client.getTransactionReceipt({ hash }).catch(() => undefined)) ??
    (await market.client.waitForTransactionReceipt({ hash }))
  if (receipt.status !== 'success') throw new Error(`transaction ${hash} reverted`)
  return receipt
}

export async function mintUsdc(market: Market, to: Address, amount: bigint): Promise<void> {
  const hash = await market.client.writeContract({
    account: heldByNode(market.accounts.deployer),
    gas: MINT_GAS,
    address: market.addresses.USDC,
    abi: sandboxUSDCAbi,
    functionName: 'mint',
    args: [to, amount],
  })
  await confirmed(market, hash)
}

/** Mints an ERC-8004 identity and reads its id from the event. */
export async function registerIdentity(market: Market, account: LocalAccount, uri = ''): Promise<bigint> {
  const hash = await market.client.writeContract({
    ...sender(account, uri),
    address: market.addresses.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'register',
    args: [uri],
  })
  const { logs } = await confirmed(market, hash)
  const [event] = parseEventLogs({ abi: identityRegistryAbi, eventName: 'Registered', logs })
  if (!event) throw new Error(`no Registered event in ${hash}`)
  return event.args.agentId
}

/** Registers an identity and opens it as a merchant. */
export async function openMerchant(market: Market, account: LocalAccount): Promise<bigint> {
  const merchantId = await registerIdentity(market, account)
  const hash = await market.client.writeContract({
    ...sender(account),
    address: market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'setActive',
    args: [merchantId, true],
  })
  await confirmed(market, hash)
  return merchantId
}

export async function listProduct(
  market: Market,
  account: LocalAccount,
  { merchantId, productId }: Product,
  { commissionBps = 1_000, minPrice = 0n, oneOff = false, cardUri = '' } = {},
): Promise<TransactionReceipt> {
  const hash = await market.client.writeContract({
    ...sender(account, cardUri),
    address: market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'listProduct',
    args: [merchantId, productId, commissionBps, minPrice, oneOff ? 1 : 0, cardUri],
  })
  return confirmed(market, hash)
}

/** Publishes a review on an approved proof: the agent's owner signs, for an hour unless `expiry` says otherwise, and the publisher sends. */
export async function publishWithProof(
  market: Market,
  owner: LocalAccount,
  {
    agentId,
    product,
    content,
    proofId,
    expiry,
  }: { agentId: bigint; product: Product; content: string; proofId: bigint; expiry?: number },
): Promise<{ reviewId: bigint; receipt: TransactionReceipt }> {
  const { client, addresses, accounts } = market
  const { timestamp } = await client.getBlock()
  const message = {
    agentId,
    ...product,
    contentHash: ContentHash.contentHash({ agentId, ...product, content }),
    nonce: numberToHex(proofId, { size: 32 }),
    expiry: expiry ?? Commitment.expiryAt(Number(timestamp)),
  }
  const commitment = Commitment.from('ReviewCommitment', {
    chainId: client.chain.id,
    reviewRegistry: addresses.ReviewRegistry,
    message,
  })
  const signature = await owner.signTypedData(commitment as Parameters<typeof owner.signTypedData>[0])
  const hash = await client.writeContract({
    ...sender(accounts.publisher),
    address: addresses.ReviewRegistry,
    abi: reviewRegistryAbi,
    functionName: 'publishWithProof',
    args: [proofId, { ...message, nonce: proofId, expiry: BigInt(message.expiry) }, signature],
  })
  const receipt = await confirmed(market, hash)
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs: receipt.logs })
  if (!event) throw new Error(`no ReviewPublished event in ${hash}`)
  return { reviewId: event.args.reviewId, receipt }
}

/** Signs a payment to the router. Unless a nonce is given, it commits to the attribution, and anybody may settle it. */
export async function signPurchase(
  { client, addresses }: Market,
  buyer: LocalAccount,
  options: {
    value: bigint
    attribution: Omit<Attribution.Attribution, 'salt'>
    salt?: Hex
    nonce?: Hex
    type?: Authorization.AuthorizationType
  },
): Promise<Purchase> {
  const { value, type = 'ReceiveWithAuthorization' } = options
  const attribution = { ...options.attribution, salt: options.salt ?? zeroHash }
  const { timestamp } = await client.getBlock()
  const authorization = {
    from: buyer.address,
    to: addresses.SplitRouter,
    value,
    validAfter: 0n,
    validBefore: timestamp + 3_600n,
    nonce: options.nonce ?? Attribution.attributionNonce(attribution),
  }
  const domain = { ...SANDBOX_TOKEN, chainId: client.chain.id, verifyingContract: addresses.USDC }
  const signature = await buyer.signTypedData(Authorization.typedData(type, domain, authorization))
  const { to: _router, ...signed } = authorization
  return {
    authorization: { kind: AUTHORIZATION_KINDS.indexOf(type) as 0 | 1, ...signed, signature },
    attribution,
  }
}

export async function settlePurchases(market: Market, purchases: Purchase[]): Promise<TransactionReceipt> {
  const { client, addresses, accounts } = market
  const router = { address: addresses.SplitRouter, abi: splitRouterAbi } as const
  const { settler } = accounts
  const [only] = purchases
  const hash =
    purchases.length === 1 && only
      ? await client.writeContract({ ...router, ...sender(settler), functionName: 'settle', args: [only] })
      : await client.writeContract({
          ...router,
          account: settler,
          functionName: 'settleBatch',
          args: [purchases],
        })
  return confirmed(market, hash)
}

export type EscrowDeposit = ReturnType<typeof escrowDeposits>[number]

/** The escrows that a settlement created. */
export function escrowDeposits(receipt: TransactionReceipt) {
  return parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs: receipt.logs }).map(
    ({ args }) => args,
  )
}

/** The terms by which an escrow is addressed, out of the event that created it. */
export function escrowTerms(deposit: EscrowDeposit) {
  const { price: _price, commission: _commission, fee: _fee, ...terms } = deposit
  return terms
}
