/** What elements are made with. The build names it in every file, which is shorter than the automatic runtime. */
export { Fragment, h } from 'preact';
