import { PageTitle } from '../../../ui/parts.tsx'

export const SessionsPage = () => <PageTitle title="My sessions" />
