import type { Manifest, ManifestChain } from './manifest.ts'

/**
 * The manifest as plain text. Each chain is one line of `name=value` pairs; lists are separated by commas. What has no section of its own stands
 * under Docs, so that nothing is left out.
 */
export function manifestText(manifest: Manifest): string {
  const { protocol, version, description, attestationPubKey: _ofChains, ...parts } = manifest
  const {
    attribution,
    nativeIntegration,
    chains,
    mcp,
    skill,
    identityRegistration,
    docs,
    setupUrl,
    ...others
  } = parts
  const sections: [title: string, lines: string[]][] = [
    [
      'Attribution',
      [`required=${attribution.required} tokenVersion=${attribution.tokenVersion}`, '', attribution.howTo],
    ],
    [
      'Native integration',
      [
        nativeIntegration.summary,
        '',
        ...nativeIntegration.recipe.map((step, at) => `${at + 1}. ${step}`),
        '',
        `Read on: ${nativeIntegration.docs}`,
      ],
    ],
    ['Chains', chains.map(chainLine)],
    [
      'MCP servers',
      mcp.servers.map(
        ({ name, transport, url, description, install }) =>
          `- ${name} (${transport}${url ? `, ${url}` : ''}): ${description} Install: ${install}`,
      ),
    ],
    ['Skill', [skill]],
    ['Identity registration', [identityRegistration]],
    ['Docs', Object.entries({ ...docs, ...others }).map(([name, url]) => `- ${name}: ${url}`)],
    ['Setup URL', [setupUrl]],
  ]
  const head = [`# ${protocol}, version ${version}`, '', description]
  return `${[head, ...sections.map(([title, lines]) => [`## ${title}`, '', ...lines])].map((lines) => lines.join('\n')).join('\n\n')}\n`
}

const chainLine = (chain: ManifestChain) =>
  Object.entries(chain)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')
