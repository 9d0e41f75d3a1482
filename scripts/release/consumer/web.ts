// A user's page, or worker: no Node, and no types of it.
import * as Client from '@referrer/client'
import { NETWORKS, readDeployment } from '@referrer/client/chain'
import { createPaymentMemory, type ReferralEndpoint } from '@referrer/merchant'
import { honoHandler } from '@referrer/merchant/hono'
import { nextHandlers } from '@referrer/merchant/next'
import { Money, Recovery } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'

const price: bigint = Money.parse('0.10')
const recovery: Promise<Recovery.Recovery> = Recovery.load()
export const handlers = (endpoint: ReferralEndpoint) => [honoHandler(endpoint), nextHandlers(endpoint).GET]
export { Client, createPaymentMemory, NETWORKS, price, readDeployment, recovery, splitRouterAbi }
