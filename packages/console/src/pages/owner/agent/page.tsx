import { PageTitle } from '../../../ui/parts.tsx'

export const AgentPage = () => <PageTitle title="My agent" />
