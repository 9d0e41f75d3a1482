import { Link } from '@tanstack/react-router'
import { plural } from '../../../format/text.ts'
import { AgentLink } from '../../../ui/links.tsx'
import { Badge } from '../../../ui/parts.tsx'
import { Hash, Usdc } from '../../../ui/values.tsx'
import { Standing } from '../parts/standing.tsx'
import type { RingCase } from './case.ts'

export const Members = ({ ring: { owners, members } }: { ring: RingCase }) => (
  <>
    <div className="table-frame">
      <table className="stacked">
        <thead>
          <tr>
            <th scope="col">Owner</th>
            <th scope="col">Agents</th>
            <th scope="col" className="amount">
              Standing
            </th>
            <th scope="col" className="amount">
              Votes cast
            </th>
            <th scope="col" className="amount">
              Votes got
            </th>
          </tr>
        </thead>
        <tbody>
          {owners.map(({ owner, agents, standing, votes_cast, votes_got }, index) => (
            <tr key={owner}>
              <td data-label="Owner">
                {index + 1}. <Hash value={owner} />
              </td>
              <td data-label="Agents">
                <Agents agents={agents} />
              </td>
              <td className="amount" data-label="Standing">
                <Standing of={standing} />
              </td>
              <td className="amount" data-label="Votes cast">
                {votes_cast}
              </td>
              <td className="amount" data-label="Votes got">
                {votes_got}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    {owners.length < members && (
      <p className="soft small">{plural(members - owners.length, 'more owner')}.</p>
    )}
  </>
)

/** Flags are set on their own page. */
const Agents = ({ agents }: { agents: RingCase['owners'][number]['agents'] }) =>
  agents.length === 0 ? (
    <span className="soft">none any more</span>
  ) : (
    <ul className="plain-list">
      {agents.map(({ agent_id, flagged }) => (
        <li key={agent_id} className="row">
          <AgentLink id={agent_id} isFirst />
          {flagged ? (
            <Badge tone="bad">flagged</Badge>
          ) : (
            <Link to="/operator/agents" search={{ agent: agent_id }} aria-label={`Flag… agent ${agent_id}`}>
              Flag…
            </Link>
          )}
        </li>
      ))}
    </ul>
  )

export const Places = ({ ring: { places } }: { ring: RingCase }) => (
  <div className="table-frame">
    <table className="stacked">
      <thead>
        <tr>
          <th scope="col">Shop</th>
          <th scope="col">Owner</th>
          <th scope="col" className="amount">
            Standing
          </th>
          <th scope="col" className="amount">
            Votes
          </th>
          <th scope="col" className="amount">
            Spent, USDC
          </th>
        </tr>
      </thead>
      <tbody>
        {places.map(({ merchant_id, owner, standing, votes, spent_usdc }) => (
          <tr key={merchant_id}>
            <td data-label="Shop">
              <Link to="/operator/shops" search={{ state: 'all', shop: merchant_id }}>
                Shop {merchant_id}
              </Link>
            </td>
            <td data-label="Owner">
              {owner ? <Hash value={owner} /> : <span className="soft">not known</span>}
            </td>
            <td className="amount" data-label="Standing">
              <Standing of={standing} />
            </td>
            <td className="amount" data-label="Votes">
              {votes}
            </td>
            <td className="amount" data-label="Spent, USDC">
              <Usdc amount={spent_usdc} column={places.map((each) => each.spent_usdc)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
