import { PageTitle } from '../../../ui/parts.tsx'

export const AgentEarningsPage = () => <PageTitle title="Earnings" />
