// An agent whose owner is a contract: whether a signature is the owner's, the contract says (ERC-1271).
import { type Address, type Hex, type LocalAccount, numberToHex } from 'viem'
import { call } from '../calls.ts'
import { send } from './chain.ts'
import type { TestMarket } from './market.ts'

/** A wallet in the few bytes that it needs: asks `ecrecover` whether this key signed the digest. */
const walletOf = (key: Address): Hex =>
  `0x600435600052${'60a43560f81c602052'}606435604052608435606052${'602060806080600060015afa50'}60805173${key.slice(2)}14${'631626ba7e0260e01b60005260206000f3'}`

let wallets = 0xc0de_0000

/** Hands an agent over to a contract for which its owner so far goes on signing. Returns the contract. */
export async function ownByContract(m: TestMarket, owner: LocalAccount, agentId: bigint): Promise<Address> {
  const wallet = numberToHex(++wallets, { size: 20 })
  await m.market.client.setCode({ address: wallet, bytecode: walletOf(owner.address) })
  await send(m, call(m, owner, 'IdentityRegistry', 'transferFrom', [owner.address, wallet, agentId]))
  await m.indexed()
  return wallet
}
