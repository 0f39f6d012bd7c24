type Named = { title: string; first_names: string; last_name: string };

export const personName = ({ title, first_names, last_name }: Named): string =>
  [title, first_names, last_name].filter(Boolean).join(' ');
