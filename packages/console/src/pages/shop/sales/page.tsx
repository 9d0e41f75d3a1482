import { PageTitle } from '../../../ui/parts.tsx'

export const SalesPage = () => <PageTitle title="Sales" />
