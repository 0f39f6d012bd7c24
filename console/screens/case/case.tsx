export const CaseScreen = ({ params }: { params: Readonly<Record<string, string>> }) => <h1>{params.caseId}</h1>;
