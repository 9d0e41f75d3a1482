import type { Terms } from '../src/attribution-token.ts'
import { PRODUCT_ID, SPLIT_ROUTER } from './keys.ts'

export const terms: Terms = {
  chainId: 84532,
  splitRouter: SPLIT_ROUTER,
  merchantEndpoint: 'https://shop.example/api/buy',
  merchantId: 0,
  productId: PRODUCT_ID,
  reviewId: 3,
  reviewerAgentId: 7,
  cashbackOfCommissionBps: 2500,
  commissionMultiplierBps: 7000,
  issuedAt: 1750000000,
}

/** The seed is 32 bytes of 0x01; the rest follows from it and from `terms`. */
export const vector = {
  seed: new Uint8Array(32).fill(1),
  attestationPubKey: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
  token:
    'eyJ2Ijo0LCJjaGFpbklkIjo4NDUzMiwic3BsaXRSb3V0ZXIiOiIweGU3ZjE3MjVFNzczNENFMjg4RjgzNjdlMUJiMTQzRTkwYmIzRjA1MTIiLCJtZXJjaGFudEVuZHBvaW50IjoiaHR0cHM6Ly9zaG9wLmV4YW1wbGUvYXBpL2J1eSIsIm1lcmNoYW50SWQiOjAsInByb2R1Y3RJZCI6IjB4MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDBhMSIsInJldmlld0lkIjozLCJyZXZpZXdlckFnZW50SWQiOjcsImNhc2hiYWNrT2ZDb21taXNzaW9uQnBzIjoyNTAwLCJjb21taXNzaW9uTXVsdGlwbGllckJwcyI6NzAwMCwiaXNzdWVkQXQiOjE3NTAwMDAwMDAsImtpZCI6IjhhODhlM2RkNzQwOWYxOTUifYQTLDZ3hGxYWFXwZiqnLR-ldp41X6beHCEMxBc-BOwpqax3Pctm2CQMeEO0yo1k5D_RUagsU8GSj_FyLJNwgA4',
  tokenHash: '0xb93187f603dfb916fc6ed9fc532171a9b1e6ed6ba210abb73e5e28501ce1ef29',
} as const
