// The alerts and dashboards that come with the project.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../../..')

export interface Alert {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook_url: string }
}

export interface Panel {
  id: number
  type: string
  title: string
  datasource?: { type: string; uid: string }
  gridPos: { h: number; w: number; x: number; y: number }
  targets?: { refId: string; expr: string; datasource: { type: string; uid: string } }[]
}

export interface Dashboard {
  uid: string
  title: string
  schemaVersion: number
  templating: { list: { name: string; type: string; query: string }[] }
  panels: Panel[]
}

export const readText = (path: string) => readFileSync(join(root, path), 'utf8')
export const readYaml = (path: string): unknown => parse(readText(path))

export function readAlerts(): Alert[] {
  const { groups } = readYaml('deploy/prometheus/alerts.yml') as { groups: { rules: Alert[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

export function readDashboards(): (Dashboard & { file: string })[] {
  return readdirSync(join(root, 'deploy/grafana'))
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ file, ...(JSON.parse(readText(`deploy/grafana/${file}`)) as Dashboard) }))
}

/** Every query of alerts and dashboards, with where it stands. */
export function readQueries(): { place: string; expr: string }[] {
  return [
    ...readAlerts().map(({ alert, expr }) => ({ place: alert, expr })),
    ...readDashboards().flatMap(({ file, panels }) =>
      panels.flatMap(({ title, targets = [] }) =>
        targets.map(({ expr }) => ({ place: `${file}: ${title}`, expr })),
      ),
    ),
  ]
}
