import { PageTitle } from '../../../ui/parts.tsx'

export const AgentsPage = () => <PageTitle title="My agents" />
