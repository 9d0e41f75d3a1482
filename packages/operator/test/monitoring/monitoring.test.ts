import { describe, expect, it } from 'vitest'
import { readAlerts, readDashboards, readQueries, readText, readYaml } from './files.ts'
import { namedIn } from './promql.ts'

const RUNBOOK = 'https://github.com/referrer/referrer/blob/main/docs/runbook.md#'
const runbook = readText('docs/runbook.md')
const headings = [...runbook.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading)
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-')

describe('the alerts', () => {
  const alerts = readAlerts()

  it('have a name of their own, a duration, a severity and texts for people', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    for (const { alert, annotations, labels, ...rule } of alerts) {
      expect(alert).toMatch(/^Referrer[A-Z][A-Za-z]+$/)
      expect([alert, rule.for]).toEqual([alert, expect.stringMatching(/^\d+[smh]$/)])
      expect(['info', 'warning', 'critical']).toContain(labels.severity)
      for (const text of [annotations.summary, annotations.description])
        expect([alert, text]).toEqual([alert, expect.stringMatching(/\w{3}/)])
    }
  })

  it('each lead to an entry of the runbook, and every entry of that form has its alert', () => {
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toBe(`${RUNBOOK}${anchorOf(alert)}`)
      expect(headings).toContain(alert)
    }
    const entries = headings.filter((heading) => /^Referrer[A-Z]/.test(heading))
    expect(entries.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
  })

  it('are read by the Prometheus of the example, which scrapes both programs', () => {
    const config = readYaml('deploy/prometheus/prometheus.yml') as {
      rule_files: string[]
      scrape_configs: { job_name: string }[]
    }
    expect(config.rule_files).toEqual(['alerts.yml'])
    const jobs = config.scrape_configs.map(({ job_name }) => job_name)
    expect(jobs).toEqual(['referrer-service', 'referrer-facilitator', 'node', 'postgres'])
  })
})

describe('the runbook', () => {
  it('says of every alert what it means, what people see, what to look at and what to do', () => {
    for (const entry of runbook.split(/^### /m).slice(1)) {
      if (!entry.startsWith('Referrer')) continue
      for (const part of ['**Means.** ', '**People see.** ', '**Look at.**\n', '\n$ ', '**Do.** '])
        expect([entry.split('\n', 1)[0], entry.includes(part)]).toEqual([expect.any(String), true])
    }
  })

  it('has the situations that no alert stands for, and its links lead to its own entries', () => {
    for (const situation of ['Chain reorganisation', 'Stuck transaction', 'Full disk', 'Dead node'])
      expect(headings).toContain(situation)
    const anchors = headings.map(anchorOf)
    for (const [, anchor] of runbook.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor)
  })
})

describe('the dashboards', () => {
  it('have a uid, the variable of their data source, and panels of different ids with queries', () => {
    const dashboards = readDashboards()
    expect(dashboards.map(({ uid }) => uid)).toEqual([
      'referrer-chain',
      'referrer-market',
      'referrer-payments',
      'referrer-process',
    ])
    for (const { file, uid, schemaVersion, templating, panels } of dashboards) {
      expect(file).toBe(`${uid}.json`)
      expect(schemaVersion).toBeGreaterThan(30)
      expect(templating.list).toContainEqual(
        expect.objectContaining({ name: 'datasource', type: 'datasource', query: 'prometheus' }),
      )
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
      for (const { type, title, targets = [], datasource, gridPos } of panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
        if (type === 'row') continue
        expect([title, targets.length > 0]).toEqual([title, true])
        expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
        const variable = { type: 'prometheus', uid: ['$', '{datasource}'].join('') }
        for (const each of [datasource, ...targets.map((target) => target.datasource)])
          expect(each).toEqual(variable)
      }
    }
  })

  it('are provisioned from files', () => {
    const { providers } = readYaml('deploy/grafana/provisioning/dashboards/referrer.yaml') as {
      providers: { type: string; options: { path: string } }[]
    }
    expect(providers).toEqual([expect.objectContaining({ type: 'file' })])
    const { datasources } = readYaml('deploy/grafana/provisioning/datasources/prometheus.yaml') as {
      datasources: { type: string }[]
    }
    expect(datasources).toEqual([expect.objectContaining({ type: 'prometheus' })])
  })
})

describe('queries', () => {
  it('are PromQL, all of them', () => {
    for (const { place, expr } of readQueries())
      expect([place, namedIn(expr).length > 0]).toEqual([place, true])
    expect(() => namedIn('sum(up')).toThrow('not PromQL')
  })

  it('are read with the labels of their selectors and of the groupings around them', () => {
    const [first, second] = namedIn('sum by (chain) (rate(a_total{kind="x"}[$__rate_interval])) / b > 1')
    expect(first).toEqual({ metric: 'a_total', labels: new Set(['kind', 'chain']) })
    expect(second).toEqual({ metric: 'b', labels: new Set() })
  })
})
