/** Whether the reason why an intent is not sent, as `dispatch` writes it down, is that its signer cannot pay for it. */
export const waitsForFunds = (reason: string | null): boolean =>
  reason?.startsWith('waits for funds') ?? false
