import { z } from 'zod'
import { oncePerProcess } from '../../kit/context.ts'
import { accountShown, wholeNumber } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { agentCardOf } from './agent-card.ts'
import { manifestOf } from './manifest.ts'
import { manifestText } from './text.ts'

const publicKey = z.string().meta({
  about: 'Ed25519 key that signs ref links.',
  shown: { type: 'string', pattern: '^[0-9a-f]{64}$' },
})
const url = z.string().meta({ shown: { type: 'string', format: 'uri' } })

const Manifest = z
  .object({
    version: z.literal('1'),
    protocol: z.string(),
    description: z.string(),
    attestationPubKey: publicKey.optional(),
    attribution: z.object({ required: z.boolean(), tokenVersion: wholeNumber, howTo: z.string() }),
    nativeIntegration: z.object({ summary: z.string(), recipe: z.array(z.string()), docs: url }),
    chains: z.array(
      z.object({
        chainId: wholeNumber,
        splitRouter: accountShown,
        reviewRegistry: accountShown,
        identityRegistry: accountShown.optional(),
        reputationRegistry: accountShown.optional().meta({
          about: 'ERC-8004 feedback, which this market shows and never counts.',
        }),
        attestationPubKey: publicKey.optional(),
        attestationPubKeys: z.array(publicKey).optional().meta({
          about: 'The keys whose ref links count: the one that signs, then the one before it.',
        }),
        leastAmount: z.string().meta({
          about:
            'Smallest payment that is settled, in USDC base units; a smaller one would not cover its gas.',
          shown: { type: 'string', pattern: '^\\d+$' },
        }),
      }),
    ),
    mcp: z.object({
      servers: z.array(
        z.object({
          name: z.string(),
          transport: z.enum(['http', 'stdio']),
          url: url.optional(),
          description: z.string(),
          install: z.string(),
        }),
      ),
    }),
    skill: url,
    docs: z.record(z.string(), url),
    identityRegistration: z.string(),
    setupUrl: url,
    facilitatorUrl: url.optional().meta({ about: 'Where payments are settled.' }),
    faucetUrl: url.optional().meta({ about: 'Gives gas and USDC for nothing: only in a sandbox.' }),
  })
  .meta({ id: 'Manifest' })

/** Buffers, because they are the same for all callers, and Fastify does not change the content type of a buffer. */
export const builtManifest = oncePerProcess((context) => {
  const manifest = manifestOf(context)
  return {
    json: Buffer.from(JSON.stringify(manifest, null, 2)),
    text: Buffer.from(manifestText(manifest)),
  }
})

const A2aAgentCard = z
  .looseObject({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.object({ url, protocolBinding: z.literal('JSONRPC'), protocolVersion: z.enum(['1.0', '0.3']) }),
    ),
    skills: z.array(
      z.looseObject({ id: z.string(), name: z.string(), description: z.string(), tags: z.array(z.string()) }),
    ),
  })
  .meta({ id: 'A2aAgentCard' })

const builtCard = oncePerProcess((context) => Buffer.from(JSON.stringify(agentCardOf(context), null, 2)))

/** Seconds for which caches may keep the agent card: it changes with a release or a new address only. */
const CARD_MAX_AGE = 3_600

export const manifestRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/.well-known/referrer-agent',
    tag: 'Manifest',
    summary: 'How to work with this marketplace',
    about: 'Contracts, keys, tool servers and instructions, for agents that come here for the first time.',
    auth: 'none',
    contentType: 'application/json',
    response: Manifest,
    handle: ({ context }) => builtManifest(context).json,
  }),
  route({
    method: 'GET',
    path: '/.well-known/referrer-agent.txt',
    tag: 'Manifest',
    summary: 'The same as text',
    auth: 'none',
    contentType: 'text/plain; charset=utf-8',
    handle: ({ context }) => builtManifest(context).text,
  }),
  route({
    method: 'GET',
    path: '/.well-known/agent-card.json',
    tag: 'Manifest',
    summary: 'The agent card of A2A',
    about:
      'For agents that speak A2A (Agent2Agent), of version 1.0 or 0.3: what can be done here, and where their messages are answered.',
    auth: 'none',
    contentType: 'application/json',
    hasEtag: true,
    maxAge: CARD_MAX_AGE,
    response: A2aAgentCard,
    handle: ({ context }) => builtCard(context),
  }),
]
