// Contract wallets, in the few bytes that they need.
import type { Address, Hex } from 'viem'

/** Returns the magic value of ERC-1271. */
const AGREE = '631626ba7e60e01b60005260206000f3'

/** Asks `ecrecover` whether its owner signed the digest. */
export const ownedBy = (owner: Address): Hex =>
  `0x600435600052${'60a43560f81c602052'}606435604052608435606052${'602060806080600060015afa50'}60805173${owner.slice(2)}14${'631626ba7e0260e01b60005260206000f3'}`

/** Agrees to everything, after about so much gas of thought: 26 for each turn. */
export const ponderous = (gas: number): Hex =>
  `0x61${Math.ceil(gas / 26)
    .toString(16)
    .padStart(4, '0')}${'5b6001900380600357'}50${AGREE}`

/** Burns all the gas that it is given. */
export const GREEDY: Hex = '0x5b600056'

/** Refuses the token at once, and burns all the gas of whoever else asks it. */
export const sullenTo = (token: Address): Hex => `0x3373${token.slice(2)}14601e575b601a565b600080fd`

/** Agrees to everything while it is only tried out, and burns all the gas that it is given in a block. */
export const FICKLE: Hex = `0x32156009575b6005565b${AGREE}`

/** Agrees to everything while it is only tried out, and to nothing in a block. */
export const TURNCOAT: Hex = `0x3215600957600080fd5b${AGREE}`

/** Agrees to everything while it is only tried out, and in a block as long as its first storage word is zero; then it burns all its gas there. */
export const SLEEPER: Hex = `0x32156000541517600e575b600a565b${AGREE}`

/** A minimal proxy (ERC-1167) of a contract. */
export const proxyOf = (target: Address): Hex =>
  `0x363d3d373d3d3d363d73${target.slice(2).toLowerCase() as Lowercase<string>}5af43d82803e903d91602b57fd5bf3`
