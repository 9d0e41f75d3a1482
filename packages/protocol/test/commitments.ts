import * as Commitment from '../src/commitment.ts'
import { dev, PRODUCT_ID, REVIEW_REGISTRY, SPLIT_ROUTER } from './keys.ts'

const nonce = '0x000000000000000000000000000000000000000000000000000000000000002a'
const expiry = 1750003600
const chainId = 84532
const registry = { chainId, reviewRegistry: REVIEW_REGISTRY } as const
const repeat = (byte: string) => `0x${byte.repeat(32)}` as const

/** One of each, with the digest that both viem and ethers must give. */
export const vectors = [
  {
    commitment: Commitment.from('VoteCommitment', {
      ...registry,
      message: { agentId: 7, escrowId: 12n, votesHash: repeat('11'), nonce, expiry },
    }),
    digest: '0x99a8fccc503a7bb4dbcfcb5844c00fa3f8fa6ce324e5a46dfd9c1b60168e222f',
  },
  {
    commitment: Commitment.from('CashbackRateCommitment', {
      ...registry,
      message: { agentId: 7, cashbackOfCommissionBps: 2500, nonce, expiry },
    }),
    digest: '0xae4637cd5634dbbe8f231f7cf92364be2d2a26437a6df31a707ca6005fede0c3',
  },
  {
    commitment: Commitment.from('ReviewCommitment', {
      ...registry,
      message: { agentId: 7, merchantId: 0, productId: PRODUCT_ID, contentHash: repeat('22'), nonce, expiry },
    }),
    digest: '0x2f35285a0895a44319ff6b4e68f8dc1a634030aef601960b5310448506d0b004',
  },
  {
    commitment: Commitment.from('TelegramLinkCommitment', {
      ...registry,
      message: { agentId: 7, nonce, expiry },
    }),
    digest: '0x59ff9a341019476a70f09e69acfcc0686bb82a3b94ab3d88596ddb261070c12a',
  },
  {
    commitment: Commitment.from('IntentAccessCommitment', {
      ...registry,
      message: { agentId: 7, nonce, expiry },
    }),
    digest: '0x0c4e1c9e7240aac8802439b47446b412d970a0cdda2e90e200934cca10bcbc11',
  },
  {
    commitment: Commitment.from('IntentMarkCommitment', {
      ...registry,
      message: { agentId: 7, intentId: 'int_1', result: '', nonce, expiry },
    }),
    digest: '0x6e628ee9e622a3c0649ca2a158ccee3850a522896f7ca6213cc07d63958d3a86',
  },
  {
    commitment: Commitment.from('IntentSkipCommitment', {
      ...registry,
      message: { agentId: 7, intentId: 'int_1', reason: 'too dear', nonce, expiry },
    }),
    digest: '0x8a7ebefb76e1a3ee6ce8d2b6901e304955e6d593999e9d12c533546694aa1e23',
  },
  {
    commitment: Commitment.from('ChargeCommitment', {
      chainId,
      splitRouter: SPLIT_ROUTER,
      message: { txHash: repeat('33'), tokenHash: repeat('44'), buyerAgentId: 7, payer: dev.address },
    }),
    digest: '0x8fff05d8b37a84890774288ab6e4298e3bf2f3019bf4fc613d941a047c44cfc4',
  },
] as const
