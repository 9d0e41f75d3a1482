import { PageTitle } from '../../../ui/parts.tsx'

export const OverviewPage = () => <PageTitle title="Operating the market" />
