import {
  type Abi,
  type Address,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  type Hex,
  isAddressEqual,
  keccak256,
  type PublicActions,
  toBytes,
  zeroAddress,
} from 'viem'
import { type ContractName, readArtifact } from './artifacts.ts'
import type { DeploymentConfig } from './config.ts'

/** The CREATE2 factory that sits at this address on nearly every chain. It makes addresses depend on the code alone. */
export const CREATE2_FACTORY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
const SALT = keccak256(toBytes('referrer/1'))

/** The names under which the address registry and the address book know the parts. */
export interface Addresses {
  AddressRegistry: Address
  IdentityRegistry: Address
  MerchantRegistry: Address
  ReviewRegistry: Address
  CommissionEscrow: Address
  SplitRouter: Address
  USDC: Address
  /** ERC-8004 feedback, which is shown and never counted. Deployed in sandboxes only; no name of the address registry. */
  ReputationRegistry?: Address
}

export interface Step {
  title: string
  to: Address
  data: Hex
  /** Nothing left to do. */
  done: boolean
  /** Who has to send it, where that is not the deployer (any more). */
  sender?: Address
}

export interface Plan {
  addresses: Addresses
  steps: Step[]
}

/**
 * Works out the whole deployment and what of it is there already, sending nothing. What is there is found by the address book first, so
 * that a new compiler does not deploy a second set, and by CREATE2 address second, so that a lost book does not either.
 */
export async function planDeployment(
  client: Pick<PublicActions, 'getCode' | 'readContract'>,
  deployer: Address,
  config: DeploymentConfig,
  book: Partial<Addresses> = {},
): Promise<Plan> {
  const steps: Step[] = []
  const abis = new Map<Address, Abi>()
  const isThere = async (address: Address) => (await client.getCode({ address })) !== undefined

  if (!(await isThere(CREATE2_FACTORY))) {
    throw new Error(
      `chain ${config.chainId} has no CREATE2 factory at ${CREATE2_FACTORY}: bring it there with the command "factory"`,
    )
  }

  async function contract(name: ContractName, args: unknown[], known?: Address): Promise<Address> {
    const { abi, bytecode } = readArtifact(name)
    const initCode = encodeDeployData({ abi, bytecode, args })
    const predicted = getContractAddress({
      opcode: 'CREATE2',
      from: CREATE2_FACTORY,
      salt: SALT,
      bytecode: initCode,
    })
    const address = known && (await isThere(known)) ? getAddress(known) : predicted
    abis.set(address, abi)
    const done = await isThere(address)
    steps.push({
      title: `deploy ${name} at ${address}`,
      to: CREATE2_FACTORY,
      data: concat([SALT, initCode]),
      done,
    })
    return address
  }

  async function existing(name: string, address: Address): Promise<Address> {
    if (!(await isThere(address)))
      throw new Error(`${name}: nothing is deployed at ${address} on chain ${config.chainId}`)
    return address
  }

  /** What a view answers now, or undefined while the contract is not there. */
  async function read<T>(
    address: Address,
    functionName: string,
    args: unknown[] = [],
  ): Promise<T | undefined> {
    if (!(await isThere(address))) return undefined
    return (await client.readContract({ address, abi: abis.get(address) ?? [], functionName, args })) as T
  }

  async function call(title: string, to: Address, functionName: string, args: unknown[], done: boolean) {
    const data = encodeFunctionData({ abi: abis.get(to) ?? [], functionName, args })
    const sender = done ? undefined : await read<Address>(to, 'owner')
    const step: Step = { title, to, data, done }
    steps.push(sender && !isAddressEqual(sender, deployer) ? { ...step, sender } : step)
  }

  async function grant(title: string, to: Address, role: string, accounts: Address[]) {
    for (const account of accounts) {
      const id = keccak256(toBytes(role))
      const done = (await read<boolean>(to, 'hasRole', [id, account])) ?? false
      await call(`${title}: ${role} to ${account}`, to, 'grantRole', [id, account], done)
    }
  }

  // ---- contracts, each after those it needs

  const usdc = config.usdc
    ? await existing('usdc', config.usdc)
    : await contract('SandboxUSDC', [deployer], book.USDC)
  const identities = config.identityRegistry
    ? await existing('identityRegistry', config.identityRegistry)
    : await contract('IdentityRegistry', [], book.IdentityRegistry)
  const registry = await contract('AddressRegistry', [deployer], book.AddressRegistry)
  const merchants = await contract(
    'MerchantRegistry',
    [deployer, config.adminDelay, identities],
    book.MerchantRegistry,
  )
  const reviews = await contract(
    'ReviewRegistry',
    [deployer, config.adminDelay, registry, identities, merchants],
    book.ReviewRegistry,
  )
  const escrow = await contract(
    'CommissionEscrow',
    [
      deployer,
      config.adminDelay,
      registry,
      identities,
      usdc,
      BigInt(config.windowSeconds),
      BigInt(config.fallbackDelaySeconds),
    ],
    book.CommissionEscrow,
  )
  const router = await contract(
    'SplitRouter',
    [
      deployer,
      config.adminDelay,
      identities,
      merchants,
      reviews,
      escrow,
      BigInt(config.feeBps),
      BigInt(config.heldBackBps),
    ],
    book.SplitRouter,
  )

  // ---- names

  const names: [string, Address][] = [
    ['USDC', usdc],
    ['IDENTITY_REGISTRY', identities],
    ['MERCHANT_REGISTRY', merchants],
    ['REVIEW_REGISTRY', reviews],
    ['COMMISSION_ESCROW', escrow],
    ['TREASURY', config.treasury],
    ['SPLIT_ROUTER', router],
  ]
  for (const [name, address] of names) {
    const key = keccak256(toBytes(name))
    const current = await read<Address>(registry, 'findAddress', [key])
    const done = current !== undefined && isAddressEqual(current, address)
    await call(`AddressRegistry: ${name} is ${address}`, registry, 'setAddress', [key, address], done)
  }

  // ---- roles

  await grant('CommissionEscrow', escrow, 'DEPOSITOR_ROLE', [router])
  await grant('SplitRouter', router, 'SETTLER_ROLE', config.settlers)
  await grant('CommissionEscrow', escrow, 'ORACLE_ROLE', config.oracles)
  await grant('ReviewRegistry', reviews, 'PUBLISHER_ROLE', config.publishers)
  await grant('CommissionEscrow', escrow, 'GUARDIAN_ROLE', config.guardians)
  await grant('MerchantRegistry', merchants, 'GUARDIAN_ROLE', config.guardians)

  // ---- hand-over: begun here, accepted by the new admin

  const admin = config.admin ?? deployer
  for (const [name, address] of Object.entries({
    MerchantRegistry: merchants,
    ReviewRegistry: reviews,
    CommissionEscrow: escrow,
    SplitRouter: router,
  })) {
    const current = (await read<Address>(address, 'defaultAdmin')) ?? deployer
    const [pending] = (await read<[Address, number]>(address, 'pendingDefaultAdmin')) ?? [zeroAddress]
    const done = isAddressEqual(current, admin) || isAddressEqual(pending, admin)
    if (!isAddressEqual(admin, deployer)) {
      await call(
        `${name}: begin hand-over to admin ${admin}`,
        address,
        'beginDefaultAdminTransfer',
        [admin],
        done,
      )
    }
  }
  const registryOwner = config.registryOwner ?? admin
  if (!isAddressEqual(registryOwner, deployer)) {
    const current = (await read<Address>(registry, 'owner')) ?? deployer
    const pending = (await read<Address>(registry, 'pendingOwner')) ?? zeroAddress
    const done = isAddressEqual(current, registryOwner) || isAddressEqual(pending, registryOwner)
    await call(
      `AddressRegistry: begin hand-over to owner ${registryOwner}`,
      registry,
      'transferOwnership',
      [registryOwner],
      done,
    )
  }

  // ---- last, so that a market that was deployed before there was one lacks nothing else

  const reputation = config.sandbox
    ? await contract('ReputationRegistry', [identities], book.ReputationRegistry)
    : undefined

  return {
    addresses: {
      AddressRegistry: registry,
      IdentityRegistry: identities,
      MerchantRegistry: merchants,
      ReviewRegistry: reviews,
      CommissionEscrow: escrow,
      SplitRouter: router,
      USDC: usdc,
      ...(reputation && { ReputationRegistry: reputation }),
    },
    steps,
  }
}
