// Contract wallets as people have them, for tests: Safe 1.5.0 with any number of owners, and Simple7702Account of ERC-4337.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Address,
  concat,
  encodeFunctionData,
  encodePacked,
  getContractAddress,
  type Hash,
  type Hex,
  hashMessage,
  hashTypedData,
  keccak256,
  type LocalAccount,
  pad,
  parseAbi,
  serializeErc6492Signature,
  zeroAddress,
  zeroHash,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount, toAccount } from 'viem/accounts'
import { CREATE2_FACTORY } from '../deploy/plan.ts'
import { confirmed, type Market } from './market.ts'

const SAFE = '@safe-global/safe-smart-account/build/artifacts/contracts'
const FACTORY = `${SAFE}/proxies/SafeProxyFactory.sol/SafeProxyFactory.json`
const require = createRequire(import.meta.url)

/** Where `deploySafeContracts` puts the factory of Safes, on every chain. */
export const safeFactory = (): Address => addressOf(FACTORY)

const safeAbi = parseAbi([
  'function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool)',
  'function getTransactionHash(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, uint256 nonce) view returns (bytes32)',
  'function nonce() view returns (uint256)',
])
const factoryAbi = parseAbi([
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address)',
  'function proxyCreationCode() pure returns (bytes)',
])

/** The contracts that Safes are made with. */
export interface SafeContracts {
  factory: Address
  singleton: Address
  fallbackHandler: Address
  proxyCode: Hex
}

/** A Safe that signs as `LocalAccount` does, with all its owners; its signatures name its deployment as long as it is not deployed (ERC-6492). */
export interface Safe extends LocalAccount {
  owners: readonly PrivateKeyAccount[]
  /** The call that deploys it. */
  deployment: { factory: Address; data: Hex }
  isDeployed(): Promise<boolean>
  deploy(): Promise<void>
  /** Calls a contract as the Safe. */
  execute(to: Address, data: Hex): Promise<Hash>
}

export async function deploySafeContracts(market: Market): Promise<SafeContracts> {
  const factory = await deploy(market, FACTORY)
  return {
    factory,
    singleton: await deploy(market, `${SAFE}/SafeL2.sol/SafeL2.json`),
    fallbackHandler: await deploy(
      market,
      `${SAFE}/handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json`,
    ),
    proxyCode: await market.client.readContract({
      address: factory,
      abi: factoryAbi,
      functionName: 'proxyCreationCode',
    }),
  }
}

/** A Safe of this many new owners, all of whom must sign. It is not deployed. `setUpBy`: code that runs as the Safe when it is. */
export function foreseeSafe(
  market: Market,
  contracts: SafeContracts,
  ownerCount = 1,
  setUpBy: Address = zeroAddress,
): Safe {
  const { factory, singleton, fallbackHandler, proxyCode } = contracts
  // A Safe wants the signatures in the order of its owners' addresses.
  const owners = Array.from({ length: ownerCount }, () => privateKeyToAccount(generatePrivateKey())).sort(
    (a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1),
  )
  const initializer = encodeFunctionData({
    abi: safeAbi,
    functionName: 'setup',
    args: [
      owners.map(({ address }) => address),
      BigInt(ownerCount),
      setUpBy,
      '0x',
      fallbackHandler,
      zeroAddress,
      0n,
      zeroAddress,
    ],
  })
  const args = [singleton, initializer, 0n] as const
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'createProxyWithNonce', args })
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: factory,
    salt: keccak256(encodePacked(['bytes32', 'uint256'], [keccak256(initializer), 0n])),
    bytecode: concat([proxyCode, pad(singleton)]),
  })
  const isDeployed = async () => (await market.client.getCode({ address })) !== undefined
  const ownersSign = async (hash: Hash) =>
    concat(await Promise.all(owners.map((owner) => owner.sign({ hash }))))
  const sign = async (hash: Hash): Promise<Hex> => {
    const signature = await ownersSign(
      hashTypedData({
        domain: { chainId: market.client.chain.id, verifyingContract: address },
        types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
        primaryType: 'SafeMessage',
        message: { message: hash },
      }),
    )
    if (await isDeployed()) return signature
    return serializeErc6492Signature({ address: factory, data, signature })
  }
  const send = async (to: Address, input: Hex) => {
    const hash = await market.client.sendTransaction({ account: market.accounts.stranger, to, data: input })
    await confirmed(market, hash)
    return hash
  }
  const account = toAccount({
    address,
    signMessage: ({ message }) => sign(hashMessage(message)),
    signTypedData: (data) => sign(hashTypedData(data as Parameters<typeof hashTypedData>[0])),
    signTransaction: () => Promise.reject(new Error('a Safe signs no transactions: execute them')),
  })
  return {
    ...account,
    owners,
    deployment: { factory, data },
    isDeployed,
    deploy: async () => void (await send(factory, data)),
    async execute(to, input) {
      const safe = { address, abi: safeAbi } as const
      const nonce = await market.client.readContract({ ...safe, functionName: 'nonce' })
      const call = [to, 0n, input, 0, 0n, 0n, 0n, zeroAddress, zeroAddress] as const
      const hash = await market.client.readContract({
        ...safe,
        functionName: 'getTransactionHash',
        args: [...call, nonce],
      })
      const signed = [...call, await ownersSign(hash)] as const
      return send(
        address,
        encodeFunctionData({ abi: safeAbi, functionName: 'execTransaction', args: signed }),
      )
    },
  }
}

/** The code that accounts with a key can delegate to (EIP-7702). */
export const deploySimple7702 = (market: Market): Promise<Address> =>
  deploy(market, '@account-abstraction/contracts/artifacts/Simple7702Account.json')

/** A new account with a key that delegates to this code. */
export async function delegatedAccount(market: Market, code: Address): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  const { client, accounts } = market
  const authorization = await account.signAuthorization({
    contractAddress: code,
    chainId: client.chain.id,
    nonce: 0,
  })
  const hash = await client.sendTransaction({
    account: accounts.stranger,
    authorizationList: [authorization],
    to: account.address,
  })
  await confirmed(market, hash)
  if ((await client.getCode({ address: account.address })) !== `0xef0100${code.slice(2).toLowerCase()}`)
    throw new Error(`${account.address} does not delegate to ${code}: the chain is older than Prague`)
  return account
}

async function deploy(market: Market, file: string): Promise<Address> {
  const data = concat([zeroHash, readBytecode(file)])
  const hash = await market.client.sendTransaction({
    account: market.accounts.stranger,
    to: CREATE2_FACTORY,
    data,
  })
  await confirmed(market, hash)
  return addressOf(file)
}

const addressOf = (file: string): Address =>
  getContractAddress({
    opcode: 'CREATE2',
    from: CREATE2_FACTORY,
    salt: zeroHash,
    bytecode: readBytecode(file),
  })

const readBytecode = (file: string): Hex =>
  (JSON.parse(readFileSync(require.resolve(file), 'utf8')) as { bytecode: Hex }).bytecode
