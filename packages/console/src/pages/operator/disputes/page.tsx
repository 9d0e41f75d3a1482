import { PageTitle } from '../../../ui/parts.tsx'

export const DisputesPage = () => <PageTitle title="Disputes" />
