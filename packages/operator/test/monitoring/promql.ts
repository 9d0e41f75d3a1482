// Which metrics and labels a PromQL expression names.
import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'

export interface Named {
  metric: string
  /** In its selector, and in the groupings around it. */
  labels: Set<string>
}

/** Throws for an expression that is not PromQL. Variables of Grafana stand for durations. */
export function namedIn(expression: string): Named[] {
  const text = expression.replaceAll('$__rate_interval', '5m')
  const tree = parser.parse(text)
  const textOf = ({ from, to }: SyntaxNode) => text.slice(from, to)
  const found: Named[] = []
  tree.iterate({
    enter({ node, type }) {
      if (type.isError) throw new SyntaxError(`not PromQL at ${node.from}: ${text}`)
      if (type.name !== 'VectorSelector') return
      const name = node.getChild('Identifier')
      if (!name) throw new SyntaxError(`a selector without the name of a metric: ${textOf(node)}`)
      found.push({ metric: textOf(name), labels: new Set([...labelsIn(node), ...groupingsAround(node)]) })
    },
  })
  if (found.length === 0) throw new SyntaxError(`no metric in ${text}`)
  return found

  function labelsIn(node: SyntaxNode): string[] {
    const labels: string[] = []
    node.cursor().iterate(({ type, from, to }) => {
      if (type.name === 'LabelName') labels.push(text.slice(from, to))
      return to <= node.to
    })
    return labels
  }

  function groupingsAround(node: SyntaxNode): string[] {
    const labels: string[] = []
    for (let above = node.parent; above; above = above.parent) {
      const modifier = above.type.name === 'AggregateExpr' && above.getChild('AggregateModifier')
      if (modifier) labels.push(...labelsIn(modifier))
    }
    return labels
  }
}
