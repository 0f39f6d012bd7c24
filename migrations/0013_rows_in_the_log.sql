-- What the rows of a record were, by table: {"invoices": {…}, "invoice_items": […], …}. Whoever reads the log makes of
-- them what is shown, as of the rows that are there. Entries from before have that in `before`, and so do those of
-- records whose rows hold what is not to be shown.
ALTER TABLE events ADD was json;
