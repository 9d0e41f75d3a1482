import {
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import { GUIDES, type GuideName, guides, skillOf } from '../../market/guides/guides.ts'
import { builtManifest } from '../../market/manifest/http.ts'

const MARKDOWN = 'text/markdown'
const JSON_TYPE = 'application/json'
const TOOLS = 'referrer://tools/'

export const EXPLAINED_TOOLS: ResourceTemplateType = {
  uriTemplate: `${TOOLS}{name}`,
  name: 'tool',
  title: 'A tool in full',
  description: 'What its fields mean, with limits and examples, and what its errors mean.',
  mimeType: JSON_TYPE,
}

const contents = oncePerProcess((context: Context): ReadonlyMap<string, Resource & { text: string }> => {
  const all = [
    {
      uri: 'referrer://manifest',
      name: 'manifest',
      title: 'Onboarding manifest',
      description: 'Chains, contracts, keys, tool servers and how attribution works, as data.',
      mimeType: JSON_TYPE,
      text: builtManifest(context).json.toString(),
    },
    {
      uri: 'referrer://skill',
      name: 'skill',
      title: 'The whole flow',
      description: 'Set up, buy, review, earn and act for an owner, in one file.',
      mimeType: MARKDOWN,
      text: skillOf(context),
    },
    ...(Object.keys(GUIDES) as GuideName[]).map((name) => ({
      uri: `referrer://guides/${name}`,
      name: `guide-${name}`,
      title: GUIDES[name],
      description: `Step by step, with the tools to use: ${GUIDES[name].toLowerCase()}.`,
      mimeType: MARKDOWN,
      text: guides[name],
    })),
  ]
  return new Map(all.map((resource) => [resource.uri, resource]))
})

export const resourcesOf = (context: Context): Resource[] =>
  [...contents(context).values()].map(({ text: _, ...resource }) => resource)

export function readResource(
  context: Context,
  explainedTools: ReadonlyMap<string, string>,
  uri: string,
): ReadResourceResult {
  if (uri.startsWith(TOOLS)) return contentOf(uri, JSON_TYPE, explainedTools.get(uri.slice(TOOLS.length)))
  const { mimeType, text } = contents(context).get(uri) ?? {}
  return contentOf(uri, mimeType, text)
}

function contentOf(uri: string, mimeType: string | undefined, text: string | undefined): ReadResourceResult {
  if (text === undefined) throw new ResourceNotFoundError(uri)
  return { contents: [{ uri, ...(mimeType && { mimeType }), text }] }
}
