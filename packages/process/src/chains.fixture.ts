const ADDRESS = `0x${'11'.repeat(20)}`

export const CONTRACTS = {
  AddressRegistry: ADDRESS,
  IdentityRegistry: ADDRESS,
  MerchantRegistry: ADDRESS,
  ReviewRegistry: ADDRESS,
  CommissionEscrow: ADDRESS,
  SplitRouter: ADDRESS,
  USDC: ADDRESS,
}

/** JSON for CHAINS with one chain for each argument, whose fields override the defaults. */
export const chainsJson = (...changes: object[]): string =>
  JSON.stringify(
    changes.map((change) => ({
      chainId: 8453,
      rpcUrls: ['https://user:hunter2@rpc.example/hunter2'],
      contracts: CONTRACTS,
      startBlock: 0,
      ...change,
    })),
  )
