// What the sandbox sets beside keys, accounts and addresses: data without imports, so that the rules' tests can run with it, too.

export const SERVICE_SETTINGS = {
  // Whoever tries the sandbox has shops and consoles on this machine.
  ALLOW_PRIVATE_HOSTS: 'true',
  // There is one process of each program.
  LIMITS: 'memory',
  WEBHOOK_KEYS: '5b'.repeat(32),
  EMBEDDER: 'auto',
  // The shop's goods cost cents: a purchase of the cheapest, with a commission of 700, counts in full.
  RANK_FULL_COMMISSION: '500',
}

export const FACILITATOR_SETTINGS = {
  // 100,000 USDC, of which a shop gets a thousandth: more than 10,000 sales of a cent a day.
  GIVEAWAY_PER_DAY: '100000000000',
}

/** How the programs follow each chain. */
export const CHAIN_SETTINGS = {
  startBlock: 0,
  // Deep enough for whoever turns the chain back with evm_revert.
  finalityDepth: 10_000,
  confirmations: 1,
  pollIntervalMs: 200,
}

/** Buyers sign for one minute of their own clock, so the chain keeps the same time, and makes several blocks in a second. */
export const CHAIN_OPTIONS = { keepsTime: true }
