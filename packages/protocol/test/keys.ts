import { privateKeyToAccount } from 'viem/accounts'

/** The first well-known development account. */
export const DEV_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const dev = privateKeyToAccount(DEV_KEY)

export const REVIEW_REGISTRY = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
export const SPLIT_ROUTER = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
export const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
export const PRODUCT_ID = '0x00000000000000000000000000000000000000000000000000000000000000a1'
